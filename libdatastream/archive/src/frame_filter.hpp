#pragma once
/// What a `ReadFilter` lets through, while one reads segment by segment.

#include "format/block_index.hpp"
#include "format/descriptors_block.hpp"

#include <datastream/archive/archive_cursor.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/frame_batch.hpp>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace datastream {

class FrameFilter {
public:
  explicit FrameFilter(ReadFilter filter);

  /// Names are those that the segment itself tells.
  void begin_segment() { channels_.clear(); }
  /// Learns names from what a segment declares, and leaves what is wanted of it.
  void learn(format::Descriptors& descriptors);

  /// Whether a block may have anything that is wanted.
  bool wants(const format::BlockDirectory& directory) const;
  /// Whether it depends on a name that was not learnt.
  bool lacks_names(const format::BlockDirectory& directory) const;
  /// What is wanted of a batch, from the sequence `from` on; nothing if that is nothing.
  std::optional<ArchivedBatch> cut(const FrameBatch& batch, const format::BlockBatch& info,
                                   std::uint64_t first, std::uint64_t from) const;

private:
  /// By all but its channels.
  bool wants(const format::BlockStream& stream) const;
  bool arrived_in_time(std::int64_t arrival) const {
    return arrival >= arrived_from_ && arrival <= arrived_last_;
  }
  bool wants_channel(const StreamId& stream, std::uint32_t channel) const;
  template <class Predicate>
  bool any_batch(const format::BlockDirectory& directory, Predicate predicate) const;

  ReadFilter filter_;
  std::int64_t arrived_from_;
  std::int64_t arrived_last_;
  /// Of each channel that was declared, whether it has a name that is wanted. Only for a filter
  /// that has names.
  std::unordered_map<StreamId, std::unordered_map<std::uint32_t, bool>> channels_;
};

} // namespace datastream
