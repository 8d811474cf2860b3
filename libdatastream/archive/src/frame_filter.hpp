#pragma once
/// What a `ReadFilter` lets through.

#include "format/block_index.hpp"
#include "format/descriptors_block.hpp"

#include <datastream/archive/archive_cursor.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/frame_batch.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace datastream {

class FrameFilter {
public:
  explicit FrameFilter(ReadFilter filter);

  bool has_names() const noexcept { return !filter_.channels.empty(); }
  /// Learns the names of channels, if it has names. Of several of one channel the first counts.
  void learn(const format::Descriptors& descriptors);
  /// Names may be missing, for frames up to and with this segment.
  void lose_names(std::uint64_t segment) {
    names_lost_up_to_ = std::max(names_lost_up_to_.value_or(segment), segment);
  }
  bool names_lost() const noexcept { return names_lost_up_to_.has_value(); }
  /// All names will be learnt again.
  void find_lost_names() noexcept { names_lost_up_to_.reset(); }

  /// Leaves of them what is wanted.
  void pick(format::Descriptors& descriptors) const;
  /// Whether a block may have anything that is wanted.
  bool wants(const format::BlockDirectory& directory) const;
  /// Whether a block of a segment depends on a name that was lost.
  bool lacks_names(const format::BlockDirectory& directory, std::uint64_t segment) const;
  /// What is wanted of a batch, from the sequence `from` on; nothing if that is nothing.
  std::optional<ArchivedBatch> cut(const FrameBatch& batch, const format::BlockBatch& info,
                                   std::uint64_t first, std::uint64_t from) const;

private:
  /// By all but its channels.
  bool wants(const format::BlockStream& stream) const;
  bool wants_name(const std::string& name) const {
    return std::ranges::find(filter_.channels, name) != filter_.channels.end();
  }
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
  std::optional<std::uint64_t> names_lost_up_to_; ///< number of a segment
};

} // namespace datastream
