#pragma once
/// One stream as it was reassembled from what arrived (specification 7.2, 7.3).

#include <datastream/ingest/detail/frame_index.hpp>
#include <datastream/ingest/detail/frame_iterator.hpp>
#include <datastream/ingest/detail/gap_range.hpp>
#include <datastream/ingest/detail/payload_memory.hpp>
#include <datastream/ingest/gap.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/model/ledger.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>

namespace datastream {

/// How much of one stream is kept. Beyond either bound the lowest positions are evicted.
///
/// That bounds memory as well, whatever a peer sends: all blocks together take at most four times
/// the payload bytes that they are kept for, plus what the index takes and 4 MiB. Where few
/// payloads would keep more than that, they are copied together.
struct Retention {
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  std::size_t frames = unlimited;
  std::size_t bytes = unlimited; ///< of payload

  friend bool operator==(const Retention&, const Retention&) = default;
};

/// The frames of one stream, by position, whole and never interpreted. Frames may arrive in any
/// order and any number of times: each position is stored once, and what was stored first stays.
/// Every frame that arrives is counted as one of `Accepted`, so the ledger balances after each
/// call.
///
///     StoredStream stream{id, {.frames = 1'000'000}};
///     stream.accept(batch);
///     for (const FrameView& frame : stream.frames())
///       show(frame);
///     for (const GapSpan& gap : stream.gaps())
///       show_missing(gap.first, gap.count());
///
/// Ownership: views, iterators and ranges live in the stream's memory, and the next call of
/// `accept` may end them. A batch may be kept by reference, which keeps its block alive.
///
/// Thread safety: one owner. Const functions may run concurrently with each other.
///
/// Errors: only `std::bad_alloc`, after which the stream holds what it held, or a part of the
/// batch. A stream that was moved from may be destroyed or assigned to.
class StoredStream {
public:
  using Iterator = detail::FrameIterator;
  using Frames = std::ranges::subrange<Iterator>;
  using Gaps = detail::GapRange;

  explicit StoredStream(StreamId id, Retention retention = {});

  StoredStream(StoredStream&&) = default;
  StoredStream& operator=(StoredStream&&) = default;

  const StreamId& id() const noexcept { return id_; }
  const Retention& retention() const noexcept { return retention_; }

  /// Frames stored now.
  std::size_t size() const noexcept { return index_.size(); }
  bool empty() const noexcept { return size() == 0; }
  /// Payload bytes stored now.
  std::size_t payload_bytes() const noexcept { return payload_bytes_; }
  /// Bytes of memory occupied: the payloads' blocks as a whole, and the index.
  std::size_t memory_bytes() const noexcept;

  /// What became of a frame that arrived.
  enum class Accepted {
    stored,           ///< its position was new; retention may have evicted it at once
    duplicate,        ///< its position was stored already, with the same channel and bytes
    conflict,         ///< its position was stored already with others, which stay
    late_for_evicted, ///< its position lies below what retention has evicted
  };

  /// Takes one frame and copies its payload, which must be smaller than 4 GiB.
  Accepted accept(const FrameView& frame);

  /// Takes a batch, which must be of this stream; returns how many frames were new. Keeps the
  /// batch's block and copies nothing if the new frames use at least half of that block; otherwise
  /// copies. Bounds of retention apply after the whole batch.
  std::size_t accept(const FrameBatch& batch);

  /// The frame at a position, if it is stored.
  std::optional<FrameView> at(Position position) const noexcept;
  /// Lowest and highest position stored now.
  std::optional<Position> first() const noexcept;
  std::optional<Position> last() const noexcept;

  /// All frames in position order. Frames know no channel names: see `Consumer::channel_name`.
  Frames frames() const noexcept;
  /// Those at `position` and above.
  Frames frames_from(Position position) const noexcept;

  /// The positions missing between stored ones, and between the last evicted one and the first
  /// stored one, ascending. Costs a step for every 64 positions around a stored one, whatever the
  /// gaps' width. What lies before the first frame ever stored, and what was evicted, is no gap;
  /// with `EvictedRange::missing` they are exactly `IngestLedger::interior_gaps`.
  Gaps gaps() const noexcept;

  /// What retention has removed so far, if anything.
  std::optional<EvictedRange> evicted() const noexcept;

  /// The stream was offered to us from this position on, so what is missing from there to the first
  /// stored frame is lost. Of several such positions the lowest counts.
  void expect_from(Position first) noexcept;
  /// The stream has ended with this many positions assigned, so what is missing after the last
  /// stored frame is lost.
  void expect_until(std::uint64_t assigned) noexcept { assigned_ = assigned; }

  /// What arrived and what is missing. Costs no walk.
  IngestLedger ledger() const;

private:
  Accepted accept_copy(const FrameView& frame);
  void accept_by_reference(const FrameBatch& batch, detail::PayloadMemory::Pin& pin);
  void copy_out(const FrameBatch& batch, detail::PayloadMemory::Pin& pin);
  bool is_evicted(Position position) const noexcept {
    return evicted_frames_ != 0 && position <= evicted_last_;
  }
  /// Counts a frame that is not stored, given the group of its position.
  Accepted refuse(const FrameView& frame, const detail::FrameGroup* group) noexcept;
  std::uint64_t stored_ever() const noexcept { return index_.size() + evicted_frames_; }
  void evict() noexcept;
  void copy_together() noexcept;

  StreamId id_;
  Retention retention_;
  detail::FrameIndex index_;
  detail::PayloadMemory memory_;
  std::size_t payload_bytes_ = 0;

  std::uint64_t duplicates_ = 0;
  std::uint64_t conflicts_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t evicted_frames_ = 0;
  std::uint64_t evicted_bytes_ = 0;
  // Once frames were evicted. As they go lowest first, this is the lowest position ever stored, and
  // everything up to the last is gone.
  Position evicted_first_;
  Position evicted_last_;
  std::optional<Position> from_;
  std::optional<std::uint64_t> assigned_;
};

} // namespace datastream
