#pragma once
/// From envelopes that lie in one block of memory to batches, without copying a payload.

#include <datastream/envelope/codec.hpp>
#include <datastream/model/block.hpp>
#include <datastream/model/frame_batch.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace datastream {

/// Collects envelopes and gives them back as one batch a stream, or several when there are more
/// than `defaults::batch_frames` of it. Frames of a stream keep their order.
///
///     for (std::string_view bytes : received)
///       if (auto envelope = decode_envelope(bytes))
///         batcher.add(*envelope, block);
///     batcher.take(block, batches);
///
/// Thread safety: one owner.
class EnvelopeBatcher {
public:
  /// Streams that are collected at the same time.
  static constexpr std::size_t streams_max = 64;
  /// Bytes that it keeps of streams without envelopes, for their next ones: names, which are a
  /// peer's choice, and room for headers.
  static constexpr std::size_t kept_bytes_max = 256U << 10U;

  /// Notes an envelope whose payload lies in `block`, the same for all until `take`. False, with
  /// nothing noted: take first, for there are as many streams as can be. Throws `std::bad_alloc`,
  /// and then has noted nothing.
  bool add(const EnvelopeView& envelope, const BlockPtr& block) {
    if (recent_ >= used_ || !envelope.belongs_to(*groups_[recent_].stream)) [[unlikely]] {
      if (!find_group(envelope))
        return false;
    }
    // An empty payload may lie behind the block's last byte.
    const auto offset = envelope.payload.empty() ? 0 : envelope.payload.data() - block->data();
    groups_[recent_].headers.push_back({envelope.position, envelope.channel,
                                        static_cast<std::uint32_t>(offset),
                                        static_cast<std::uint32_t>(envelope.payload.size())});
    ++size_;
    return true;
  }

  /// Envelopes since the last `take`.
  std::size_t size() const noexcept { return size_; }

  /// Appends the batches of what was added to `batches`, in the order in which their streams came
  /// up, and forgets it. A batch shares `block`, unless it would pin more than twice the payload
  /// that it has: then that is copied. Throws `std::bad_alloc`; what was not appended stays.
  void take(const BlockPtr& block, std::vector<FrameBatch>& batches);

private:
  struct Group {
    std::shared_ptr<const StreamId> stream;
    std::vector<FrameHeader> headers;

    std::size_t bytes() const noexcept {
      return sizeof(Group) + sizeof(StreamId) + stream->node.value.capacity() +
             headers.capacity() * sizeof(FrameHeader);
    }
  };

  /// Makes the group of the envelope's stream the recent one. False: there are as many as can be.
  bool find_group(const EnvelopeView& envelope);
  void forget_groups() noexcept;

  // Groups outlive `take`, for the next envelopes will be of the same streams. The first `used_`
  // have frames.
  std::vector<Group> groups_;
  std::size_t used_ = 0;
  std::size_t recent_ = 0;
  std::size_t size_ = 0;
};

} // namespace datastream
