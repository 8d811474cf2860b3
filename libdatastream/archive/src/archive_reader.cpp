#include <datastream/archive/archive_reader.hpp>

#include "archive_cursor_impl.hpp"
#include "archived_stream_impl.hpp"
#include "format/time.hpp"
#include "read_block.hpp"
#include "segment_set.hpp"
#include "stream_blocks.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace datastream {

using namespace format;

class ArchiveReader::Impl {
public:
  Impl(std::shared_ptr<SegmentSet> set, SnapshotPtr snapshot)
      : set_(std::move(set)), snapshot_(std::move(snapshot)) {}

  std::expected<bool, ArchiveError> refresh();
  std::uint64_t end_sequence() const noexcept { return snapshot_->tip.end_sequence; }
  std::expected<std::unique_ptr<ArchiveCursor::Impl>, ArchiveError> read_from(std::uint64_t from,
                                                                              ReadFilter filter);
  std::expected<std::shared_ptr<const ArchivedStream::Impl>, ArchiveError>
  stream(const StreamId& stream, Holes holes);
  std::expected<std::vector<ArchivedStreamInfo>, ArchiveError> streams(Holes holes);
  std::expected<std::shared_ptr<const Catalog>, ArchiveError> catalog(Holes holes);
  std::expected<std::string, ArchiveError> source(Holes holes);
  std::vector<std::expected<SegmentInfo, ArchiveError>> segments();
  std::vector<ArchiveError> holes();
  std::vector<ArchiveError> verify();

private:
  SegmentInfo info(std::size_t segment, const SegmentIndex& index) const;
  /// Visits the index of every segment of the snapshot, or answers the first hole.
  template <class Visit>
  std::optional<ArchiveError> each_index(Holes holes, Visit visit);
  /// The same for every block that has frames.
  template <class Visit>
  std::optional<ArchiveError> each_frames_block(Holes holes, Visit visit);
  /// The same for what blocks of descriptors say.
  template <class Visit>
  std::optional<ArchiveError> each_descriptors(Holes holes, Visit visit);
  static void verify_segment(const Snapshot& snapshot, std::size_t segment,
                             const SegmentIndex& index, std::vector<ArchiveError>& faults);

  std::shared_ptr<SegmentSet> set_;
  SnapshotPtr snapshot_;
};

std::expected<bool, ArchiveError> ArchiveReader::Impl::refresh() {
  auto snapshot = set_->refresh(SegmentSet::Look::at_all);
  if (!snapshot)
    return std::unexpected(std::move(snapshot.error()));
  const bool more = (*snapshot)->tip.end_sequence > end_sequence();
  snapshot_ = std::move(*snapshot);
  return more;
}

std::expected<std::unique_ptr<ArchiveCursor::Impl>, ArchiveError>
ArchiveReader::Impl::read_from(std::uint64_t from, ReadFilter filter) {
  SnapshotPtr snapshot = snapshot_;
  if (from > snapshot->tip.end_sequence) {
    auto now = set_->refresh(SegmentSet::Look::at_all);
    if (!now)
      return std::unexpected(std::move(now.error()));
    snapshot = std::move(*now);
  }
  if (from > snapshot->tip.end_sequence)
    return std::unexpected(ArchiveError{
        ArchiveError::Kind::bad_cursor,
        snapshot->directory.string() + ": nothing has sequence " + std::to_string(from) +
            "; the next one to be given out is " + std::to_string(snapshot->tip.end_sequence),
        {}});
  from = std::max(from, snapshot->tip.first_sequence);
  return std::make_unique<ArchiveCursor::Impl>(set_, std::move(snapshot), from, std::move(filter));
}

template <class Visit>
std::optional<ArchiveError> ArchiveReader::Impl::each_index(Holes holes, Visit visit) {
  std::optional<ArchiveError> first;
  set_->each_index(*snapshot_, visit, [&](ArchiveError error) {
    if (holes == Holes::refuse && !first)
      first = std::move(error);
  });
  return first;
}

template <class Visit>
std::optional<ArchiveError> ArchiveReader::Impl::each_frames_block(Holes holes, Visit visit) {
  return each_index(holes, [&](std::size_t, const SegmentIndexPtr& index) {
    for (std::size_t i = 0, count = index->size(); i < count; ++i) {
      const IndexEntry& entry = index->entry(i);
      // Others may have looked further.
      if (entry.header.kind == BlockKind::frames && entry.header.first_sequence < end_sequence())
        visit(entry);
    }
  });
}

std::expected<std::shared_ptr<const ArchivedStream::Impl>, ArchiveError>
ArchiveReader::Impl::stream(const StreamId& stream, Holes holes) {
  std::vector<StreamPart> parts;
  auto error = each_index(holes, [&](std::size_t segment, const SegmentIndexPtr& index) {
    const StreamBlocks blocks(*index, stream, end_sequence());
    if (!blocks.empty())
      parts.push_back({segment, blocks.sequences(), blocks.checksum(), blocks.extent(), {}});
  });
  if (error)
    return std::unexpected(std::move(*error));
  if (parts.empty())
    return std::unexpected(
        ArchiveError{ArchiveError::Kind::unknown_stream,
                     snapshot_->directory.string() + ": there is nothing of " + to_string(stream),
                     {}});
  return std::make_shared<const ArchivedStream::Impl>(stream, set_, snapshot_, std::move(parts));
}

std::expected<std::vector<ArchivedStreamInfo>, ArchiveError>
ArchiveReader::Impl::streams(Holes holes) {
  std::map<StreamId, ArchivedStreamInfo> streams;
  auto error = each_frames_block(holes, [&](const IndexEntry& entry) {
    std::vector<ArchivedStreamInfo*> infos;
    for (const BlockStream& part : entry.directory.streams) {
      const auto [found, is_new] = streams.try_emplace(*part.stream);
      ArchivedStreamInfo& info = found->second;
      if (is_new)
        info = {.lowest = part.lowest,
                .highest = part.highest,
                .first_arrival = std::chrono::system_clock::time_point::max(),
                .last_arrival = std::chrono::system_clock::time_point::min()};
      info.frames += part.frames;
      info.lowest = std::min(info.lowest, part.lowest);
      info.highest = std::max(info.highest, part.highest);
      infos.push_back(&info);
    }
    for (const BlockBatch& batch : entry.directory.batches) {
      ArchivedStreamInfo& info = *infos[batch.stream];
      info.first_arrival = std::min(info.first_arrival, time_of(batch.arrival));
      info.last_arrival = std::max(info.last_arrival, time_of(batch.arrival));
    }
  });
  if (!error)
    error = each_descriptors(holes, [&](const Descriptors& descriptors) {
      for (const StreamStart& start : descriptors.starts) {
        std::optional<Position>& from = streams[start.stream].from;
        from = std::min(from.value_or(start.from), start.from);
      }
      for (const StreamEnd& end : descriptors.ends) {
        std::optional<std::uint64_t>& assigned = streams[end.stream].assigned;
        assigned = std::max(assigned.value_or(0), end.assigned);
      }
    });
  if (error)
    return std::unexpected(std::move(*error));
  std::vector<ArchivedStreamInfo> result;
  result.reserve(streams.size());
  for (auto& [id, info] : streams) {
    info.stream = id;
    result.push_back(std::move(info));
  }
  return result;
}

template <class Visit>
std::optional<ArchiveError> ArchiveReader::Impl::each_descriptors(Holes holes, Visit visit) {
  std::optional<ArchiveError> first;
  set_->each_descriptors(*snapshot_, {}, visit, [&](ArchiveError error, std::uint64_t) {
    if (holes == Holes::refuse && !first)
      first = std::move(error);
  });
  return first;
}

std::expected<std::shared_ptr<const Catalog>, ArchiveError>
ArchiveReader::Impl::catalog(Holes holes) {
  auto catalog = std::make_shared<Catalog>();
  auto error = each_descriptors(holes, [&](const Descriptors& descriptors) {
    for (const Declaration& declaration : descriptors.declarations)
      (void)catalog->declare(declaration); // a segment repeats what an earlier one has
  });
  if (error)
    return std::unexpected(std::move(*error));
  return catalog;
}

std::expected<std::string, ArchiveError> ArchiveReader::Impl::source(Holes holes) {
  std::string last;
  auto error = each_descriptors(holes, [&](const Descriptors& descriptors) {
    if (descriptors.source)
      last = *descriptors.source;
  });
  if (error)
    return std::unexpected(std::move(*error));
  return last;
}

SegmentInfo ArchiveReader::Impl::info(std::size_t segment, const SegmentIndex& index) const {
  const SegmentIndex::State state = index.state();
  SegmentInfo info;
  info.name = snapshot_->segments[segment].file->path().filename().string();
  info.sealed = state.sealed;
  info.first = {snapshot_->begin_of(segment)};
  info.bytes = state.end.offset;
  if (const auto limit = snapshot_->limit(segment))
    info.bytes = *limit;
  else if (const auto file = snapshot_->segments[segment].file->file())
    info.bytes = (*file)->size().value_or(info.bytes);
  for (std::size_t i = 0; i < state.blocks; ++i) {
    const IndexEntry& entry = index.entry(i);
    if (entry.offset >= info.bytes)
      break;
    ++info.blocks;
    info.frames += entry.header.frames;
  }
  return info;
}

std::uint64_t ArchivedStreamInfo::missing() const noexcept {
  const std::uint64_t end = assigned.value_or(0);
  if (frames == 0) {
    const std::uint64_t begin = from.value_or(Position{}).value;
    return end > begin ? end - begin : 0;
  }
  const std::uint64_t first = std::min(from.value_or(lowest), lowest).value;
  const std::uint64_t last = end > highest.value ? end - 1 : highest.value;
  const std::uint64_t behind_first = last - first; // there may be 2^64 positions
  return behind_first - std::min(behind_first, frames - 1);
}

std::vector<std::expected<SegmentInfo, ArchiveError>> ArchiveReader::Impl::segments() {
  std::vector<std::expected<SegmentInfo, ArchiveError>> result;
  set_->each_index(
      *snapshot_,
      [&](std::size_t segment, const SegmentIndexPtr& index) {
        result.emplace_back(info(segment, *index));
      },
      [&](ArchiveError error) { result.emplace_back(std::unexpected(std::move(error))); });
  return result;
}

std::vector<ArchiveError> ArchiveReader::Impl::holes() {
  std::vector<ArchiveError> result;
  set_->each_index(
      *snapshot_, [](std::size_t, const SegmentIndexPtr&) {},
      [&](ArchiveError error) { result.push_back(std::move(error)); });
  return result;
}

/// What is wrong in a segment, apart from where it is cut off.
void ArchiveReader::Impl::verify_segment(const Snapshot& snapshot, std::size_t segment,
                                         const SegmentIndex& index,
                                         std::vector<ArchiveError>& faults) {
  const auto file = snapshot.segments[segment].file->file();
  if (!file)
    return faults.push_back(file.error());
  const SegmentIndex::State state = index.state();
  const auto gaps = index.gaps();
  for (const SegmentIndex::Gap& gap : gaps)
    if (!gap.why.lost)
      faults.push_back(gap.why);
  for (std::size_t i = 0; i < state.blocks; ++i) {
    const IndexEntry& entry = index.entry(i);
    if (entry.header.kind == BlockKind::frames) {
      if (auto frames = read_frames(**file, entry); !frames)
        faults.push_back(std::move(frames.error()));
    } else if (auto descriptors = read_descriptors(**file, entry); !descriptors) {
      faults.push_back(std::move(descriptors.error()));
    }
  }
  auto size = (*file)->size();
  if (const auto limit = snapshot.limit(segment))
    size = *limit;
  if (!size)
    return faults.push_back(size.error());
  const bool cut_off = state.end.sequence != snapshot.begin_of(segment + 1);
  // One that is not the last and was never sealed lost its end, or a part on the way there.
  const bool has_end = state.sealed || (!snapshot.is_last(segment) && gaps.empty());
  const auto footer = (*file)->read_footer(*size);
  if (!footer)
    faults.push_back(footer.error());
  else if (!*footer && !cut_off && has_end)
    faults.push_back(damaged((*file)->path(), *size, {"the segment does not end with a trailer"}));
  else if (state.stop && !cut_off)
    faults.push_back(*state.stop);
}

std::vector<ArchiveError> ArchiveReader::Impl::verify() {
  const Snapshot fresh = set_->afresh(*snapshot_);
  std::vector<ArchiveError> faults;
  set_->each_index(
      fresh,
      [&](std::size_t segment, const SegmentIndexPtr& index) {
        verify_segment(fresh, segment, *index, faults);
      },
      [&](ArchiveError error) { faults.push_back(std::move(error)); });
  // One hole may have several reasons.
  for (const Snapshot::Listed& listed : fresh.segments)
    if (!listed.header && std::ranges::find(faults, listed.header.error().message,
                                            &ArchiveError::message) == faults.end())
      faults.push_back(listed.header.error());
  return faults;
}

std::expected<ArchiveReader, ArchiveError>
ArchiveReader::open(const std::filesystem::path& directory, FileSystem* files) {
  auto set = std::make_shared<SegmentSet>(directory, files ? *files : posix_file_system());
  auto snapshot = set->refresh(SegmentSet::Look::at_all);
  if (!snapshot)
    return std::unexpected(std::move(snapshot.error()));
  return ArchiveReader(std::make_unique<Impl>(std::move(set), std::move(*snapshot)));
}

ArchiveReader::ArchiveReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ArchiveReader::ArchiveReader(ArchiveReader&&) noexcept = default;
ArchiveReader& ArchiveReader::operator=(ArchiveReader&&) noexcept = default;
ArchiveReader::~ArchiveReader() = default;

std::expected<bool, ArchiveError> ArchiveReader::refresh() {
  return impl_->refresh();
}

Sequence ArchiveReader::last() const noexcept {
  return {impl_->end_sequence() - 1};
}

std::expected<ArchiveCursor, ArchiveError> ArchiveReader::read_from(Sequence from,
                                                                    ReadFilter filter) {
  auto cursor = impl_->read_from(from.value, std::move(filter));
  if (!cursor)
    return std::unexpected(std::move(cursor.error()));
  return ArchiveCursor(std::move(*cursor));
}

std::expected<ArchivedStream, ArchiveError> ArchiveReader::stream(const StreamId& stream,
                                                                  Holes holes) {
  auto found = impl_->stream(stream, holes);
  if (!found)
    return std::unexpected(std::move(found.error()));
  return ArchivedStream(std::move(*found));
}

std::expected<std::vector<ArchivedStreamInfo>, ArchiveError> ArchiveReader::streams(Holes holes) {
  return impl_->streams(holes);
}

std::expected<std::shared_ptr<const Catalog>, ArchiveError> ArchiveReader::catalog(Holes holes) {
  return impl_->catalog(holes);
}

std::expected<std::string, ArchiveError> ArchiveReader::source(Holes holes) {
  return impl_->source(holes);
}

std::vector<std::expected<SegmentInfo, ArchiveError>> ArchiveReader::segments() {
  return impl_->segments();
}

std::vector<ArchiveError> ArchiveReader::holes() {
  return impl_->holes();
}

std::vector<ArchiveError> ArchiveReader::verify() {
  return impl_->verify();
}

} // namespace datastream
