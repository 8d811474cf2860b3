#include <datastream/envelope/framing.hpp>

#include <datastream/envelope/codec.hpp>
#include <datastream/envelope/detail/little_endian.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace datastream {
namespace {

/// Less room than this at the end of a block is not worth a system call.
constexpr std::size_t room_min = EnvelopeFraming::chunk_bytes / 4;

} // namespace

std::optional<std::string_view> EnvelopeFraming::next() noexcept {
  if (over_maximum_ || incomplete() < envelope_prefix)
    return std::nullopt;
  const char* at = block_->data() + begin_;
  const std::size_t length = detail::load_little<std::uint32_t>(at);
  if (length > envelope_max_) {
    over_maximum_ = true;
    return std::nullopt;
  }
  if (incomplete() - envelope_prefix < length)
    return std::nullopt;
  begin_ += envelope_prefix + length;
  return std::string_view(at + envelope_prefix, length);
}

std::span<char> EnvelopeFraming::room() noexcept {
  if (block_ && begin_ > 0 && block_->unique() && block_->capacity() == chunk_bytes) {
    std::memmove(block_->data(), block_->data() + begin_, incomplete());
    end_ = incomplete();
    begin_ = 0;
  }
  const std::size_t left = block_ ? block_->capacity() - end_ : 0;
  // An envelope that has its block for itself fills it up.
  if (left < room_min && (left == 0 || begin_ > 0) && !carry_over())
    return {};
  return {block_->data() + end_, block_->capacity() - end_};
}

/// Takes the incomplete envelope into a new block.
bool EnvelopeFraming::carry_over() noexcept {
  const std::size_t carried = incomplete();
  std::size_t capacity = chunk_bytes;
  if (carried >= envelope_prefix) {
    // As large as the envelope, so that it fills its block, but not before half of it is there.
    const std::size_t whole =
        envelope_prefix + detail::load_little<std::uint32_t>(block_->data() + begin_);
    capacity = std::max(capacity, std::min(whole, 2 * carried));
  }
  BlockPtr larger = allocate_block(capacity);
  if (!larger)
    return false;
  if (carried > 0)
    std::memcpy(larger->data(), block_->data() + begin_, carried);
  block_ = std::move(larger);
  begin_ = 0;
  end_ = carried;
  return true;
}

} // namespace datastream
