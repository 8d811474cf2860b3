#include "outgoing_envelopes.hpp"

#include <datastream/envelope/detail/little_endian.hpp>

#include <new>

namespace datastream {

bool OutgoingEnvelopes::refill() noexcept {
  if (buffer_.capacity() > 4 * bounds_.bytes)
    buffer_ = std::string(); // one large envelope must not keep its memory for ever
  buffer_.clear();
  frames_ = 0;
  while (frames_ < bounds_.frames && buffer_.size() < bounds_.bytes) {
    if (next_ == batch_.size()) {
      batch_ = queue_.take();
      next_ = 0;
      if (batch_.empty())
        break;
    }
    const std::size_t count = fitting();
    std::uint64_t SendLosses::* const loss =
        count > 0 ? encode(count) : &SendLosses::envelope_too_large;
    const std::size_t frames = count > 0 ? count : 1;
    if (!loss) {
      frames_ += frames;
    } else if (frames_ > 0) {
      break; // frames are settled in their order: first those that are in the buffer
    } else {
      queue_.lost(loss, frames);
    }
    next_ += frames;
  }
  return frames_ > 0;
}

/// How many of the next frames go into the buffer at once; 0: the next one never will.
std::size_t OutgoingEnvelopes::fitting() const noexcept {
  const auto headers = batch_.headers().subspan(next_);
  std::size_t bytes = buffer_.size();
  std::size_t count = 0;
  for (; count < headers.size() && frames_ + count < bounds_.frames && bytes < bounds_.bytes;
       ++count) {
    const std::size_t envelope = envelope_size(batch_.stream(), headers[count].length);
    if (envelope > bounds_.envelope_bytes)
      break;
    bytes += envelope_prefix + envelope;
  }
  return count;
}

/// Appends the next frames to the buffer; null, or why that cannot be done.
std::uint64_t SendLosses::* OutgoingEnvelopes::encode(std::size_t count) noexcept {
  try {
    return encode_framed(buffer_, batch_.slice(next_, count)) ? nullptr
                                                              : &SendLosses::not_encodable;
  } catch (const std::bad_alloc&) {
    return &SendLosses::out_of_memory;
  }
}

std::size_t OutgoingEnvelopes::frames_within(std::size_t bytes) const noexcept {
  std::size_t frames = 0;
  for (std::size_t at = 0; at < bytes; ++frames) {
    at += envelope_prefix + length_at(at);
    if (at > bytes)
      break;
  }
  return frames;
}

std::size_t OutgoingEnvelopes::length_at(std::size_t at) const noexcept {
  return detail::load_little<std::uint32_t>(buffer_.data() + at);
}

} // namespace datastream
