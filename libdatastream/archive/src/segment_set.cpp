#include "segment_set.hpp"

#include "read_block.hpp"
#include "tip_file.hpp"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <span>
#include <string>
#include <system_error>
#include <thread>

namespace datastream {

using namespace format;

namespace {

using Kind = ArchiveError::Kind;

/// A place of the tip is torn while it is written, and both only if a slow read met two writes, or
/// while the archive is created: another look finds them whole.
constexpr int tip_tries = 50;
constexpr std::chrono::milliseconds tip_pause{1};

} // namespace

std::optional<std::uint64_t> Snapshot::limit(std::size_t index) const {
  return is_last(index) ? std::optional(tip.offset) : std::nullopt;
}

std::uint64_t Snapshot::begin_of(std::size_t index) const {
  for (; index < segments.size(); ++index)
    if (segments[index].header)
      return segments[index].header->first_sequence;
  return tip.end_sequence;
}

std::optional<std::size_t> Snapshot::find(std::uint64_t sequence) const {
  const auto indexes = std::views::iota(std::size_t{0}, segments.size());
  std::size_t index = static_cast<std::size_t>(
      std::ranges::partition_point(indexes,
                                   [&](std::size_t i) { return begin_of(i) <= sequence; }) -
      indexes.begin());
  while (index-- > 0)
    if (segments[index].header)
      return index;
  return std::nullopt;
}

std::optional<ArchiveError> Snapshot::fault_before() const {
  return fault(tip.first_sequence, 0, std::nullopt);
}

std::optional<ArchiveError> Snapshot::fault_behind(std::size_t index, std::uint64_t reached,
                                                   std::optional<ArchiveError> why) const {
  return fault(reached, index + 1, std::move(why));
}

/// Between `reached` and the first readable segment from `next` on.
std::optional<ArchiveError> Snapshot::fault(std::uint64_t reached, std::size_t next,
                                            std::optional<ArchiveError> why) const {
  const std::uint64_t begin = begin_of(next);
  if (begin == reached)
    return std::nullopt;
  std::size_t after = next;
  while (after < segments.size() && !segments[after].header)
    ++after;
  if (begin < reached) {
    // A later look at a segment that grows has shown more than this one.
    if (after == segments.size())
      return std::nullopt;
    return costing(damaged(segments[after].file->path(), 0,
                           {"the segment begins at sequence " + std::to_string(begin) +
                            ", and the one before it ends with " + std::to_string(reached - 1)}),
                   begin, reached);
  }
  if (!why && next < after)
    why = segments[next].header.error();
  if (!why && next > 0 && next == segments.size() && is_last(next - 1))
    why = damaged(segments[next - 1].file->path(), tip.offset,
                  {"the segment ends with sequence " + std::to_string(reached - 1) +
                   ", and the tip says " + std::to_string(begin - 1)});
  if (!why)
    why = ArchiveError{Kind::missing,
                       directory.string() + ": no segment has sequences " +
                           std::to_string(reached) + " to " + std::to_string(begin - 1),
                       {}};
  return costing(std::move(*why), reached, begin);
}

std::expected<SegmentSet::FoundTip, ArchiveError> SegmentSet::find_tip(Look look) const {
  for (int attempt = 1;; ++attempt) {
    std::optional<ArchiveError> fault;
    auto tip = read_tip(files_, directory_, &fault);
    if (!tip)
      return std::unexpected(std::move(tip.error()));
    if (*tip && look == Look::at_tip)
      return FoundTip{**tip, std::nullopt};
    if (*tip && (!fault || attempt == tip_tries))
      return FoundTip{**tip, std::move(fault)};
    if (!*tip && attempt == 1)
      if (auto error = check_for_segments())
        return std::unexpected(std::move(*error));
    if (attempt == tip_tries)
      return std::unexpected(ArchiveError{Kind::damaged,
                                          (directory_ / tip_name).string() +
                                              ": nothing here says how far the archive is "
                                              "durable; opening it for writing mends that",
                                          {}});
    std::this_thread::sleep_for(tip_pause);
  }
}

/// Without a tip: is there an archive at all?
std::optional<ArchiveError> SegmentSet::check_for_segments() const {
  const auto names = files_.list(directory_);
  if (!names && !names.error().is(std::errc::no_such_file_or_directory))
    return to_archive_error(names.error());
  if (names && std::ranges::any_of(*names, [](const std::string& name) {
        return parse_segment_name(name).has_value();
      }))
    return std::nullopt;
  return ArchiveError{Kind::not_an_archive, directory_.string() + ": there is no archive here", {}};
}

std::expected<std::vector<Snapshot::Listed>, ArchiveError>
SegmentSet::list_segments(const Tip& tip) const {
  const auto names = files_.list(directory_);
  if (!names)
    return archive_failed(names.error());
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : *names) {
    const auto segment = parse_segment_name(name);
    if (!segment || segment->number > tip.segment)
      continue;
    if (segment->generation != 0)
      return std::unexpected(
          ArchiveError{Kind::unsupported,
                       (directory_ / name).string() +
                           ": the segment is of a generation that this library does not know",
                       {}});
    numbers.push_back(segment->number);
  }
  std::ranges::sort(numbers);
  std::vector<Snapshot::Listed> segments;
  segments.reserve(numbers.size());
  auto known = latest_ ? std::span(latest_->segments) : std::span<const Snapshot::Listed>();
  for (const std::uint64_t number : numbers) {
    while (!known.empty() && known.front().number() < number)
      known = known.subspan(1);
    const auto file = !known.empty() && known.front().number() == number
                          ? known.front().file
                          : std::make_shared<Segment>(files_, directory_ / segment_name(number),
                                                      number, tip.archive);
    auto header = file->header();
    // Nobody knows what is in it, and a hole would be a guess.
    if (!header && header.error().kind == Kind::unsupported)
      return std::unexpected(std::move(header.error()));
    segments.push_back({file, std::move(header)});
  }
  return segments;
}

std::expected<SnapshotPtr, ArchiveError> SegmentSet::refresh(Look look) {
  const std::lock_guard lock(mutex_);
  // The tip first: all segments up to it are there by then.
  auto found = find_tip(look);
  if (!found)
    return std::unexpected(std::move(found.error()));
  const Tip* const tip = &found->tip;
  if (tip->generation != 0)
    return std::unexpected(
        ArchiveError{Kind::unsupported,
                     (directory_ / tip_name).string() +
                         ": the last segment is of a generation that this library does not know",
                     {}});
  if (latest_ && latest_->tip.archive != tip->archive)
    return std::unexpected(
        damaged(directory_ / tip_name, 0, {"this is another archive than it was"}));
  if (look == Look::at_tip && latest_ && latest_->tip == *tip)
    return latest_;
  auto snapshot =
      std::make_shared<Snapshot>(Snapshot{*tip, std::move(found->fault), directory_, {}});
  if (look == Look::at_tip && latest_ && latest_->tip.segment == tip->segment) {
    snapshot->segments = latest_->segments;
  } else {
    auto segments = list_segments(*tip);
    if (!segments)
      return std::unexpected(std::move(segments.error()));
    snapshot->segments = std::move(*segments);
  }
  if (!latest_ || latest_->tip != snapshot->tip || latest_->tip_fault != snapshot->tip_fault ||
      latest_->segments != snapshot->segments)
    latest_ = std::move(snapshot);
  return latest_;
}

Snapshot SegmentSet::afresh(const Snapshot& snapshot) const {
  auto tip = find_tip(Look::at_all);
  Snapshot fresh{snapshot.tip,
                 tip ? std::move(tip->fault) : std::optional(std::move(tip.error())),
                 snapshot.directory,
                 {}};
  for (const Snapshot::Listed& listed : snapshot.segments) {
    const auto file = std::make_shared<Segment>(files_, listed.file->path(), listed.number(),
                                                snapshot.tip.archive);
    fresh.segments.push_back({file, file->header()});
  }
  return fresh;
}

std::expected<SegmentIndexPtr, ArchiveError> SegmentSet::index(const Snapshot& snapshot,
                                                               std::size_t index) {
  Segment& segment = *snapshot.segments[index].file;
  auto loaded = segment.index(snapshot.end_of(index));
  if (loaded) {
    const std::size_t memory = (*loaded)->state().memory; // it may have grown
    const std::lock_guard lock(mutex_);
    kept_.keep(segment.number(), *loaded, memory);
  }
  return loaded;
}

void SegmentSet::each_index(const Snapshot& snapshot,
                            const std::function<void(std::size_t, const SegmentIndexPtr&)>& visit,
                            const std::function<void(ArchiveError)>& fault, std::size_t first) {
  if (first == 0)
    if (auto error = snapshot.fault_before())
      fault(std::move(*error));
  for (std::size_t i = first; i < snapshot.segments.size(); ++i) {
    const auto& header = snapshot.segments[i].header;
    if (!header)
      continue; // part of what is wrong behind the one before it
    std::uint64_t reached = header->first_sequence;
    std::optional<ArchiveError> why;
    if (const auto loaded = index(snapshot, i)) {
      visit(i, *loaded);
      SegmentIndex::State state = (*loaded)->state();
      for (const SegmentIndex::Gap& gap : (*loaded)->gaps())
        if (gap.why.lost && gap.why.lost->first.value < snapshot.begin_of(i + 1))
          fault(gap.why); // others may have looked further
      reached = state.end.sequence;
      why = std::move(state.stop);
    } else {
      why = loaded.error();
    }
    if (auto error = snapshot.fault_behind(i, reached, std::move(why)))
      fault(std::move(*error));
  }
  if (snapshot.tip_fault)
    fault(*snapshot.tip_fault);
}

SegmentSet::DescriptorsRead
SegmentSet::each_descriptors(const Snapshot& snapshot, DescriptorsRead read,
                             const std::function<void(const Descriptors&)>& visit,
                             const std::function<void(ArchiveError, std::uint64_t)>& fault) {
  const auto& segments = snapshot.segments;
  const auto visit_index = [&](std::size_t segment, const SegmentIndexPtr& index) {
    const std::uint64_t number = segments[segment].number();
    std::size_t block = number == read.segment ? read.blocks : 0;
    const std::size_t end = index->size();
    for (; block < end; ++block) {
      const IndexEntry& entry = index->entry(block);
      if (entry.header.kind != BlockKind::descriptors)
        continue;
      const auto file = segments[segment].file->file();
      auto descriptors = file ? read_descriptors(**file, entry) : std::unexpected(file.error());
      if (descriptors)
        visit(*descriptors);
      else
        fault(std::move(descriptors.error()), number);
    }
    read = {number, end};
    // Descriptors may be among what costs no frames.
    for (SegmentIndex::Gap& gap : index->gaps())
      if (!gap.why.lost)
        fault(std::move(gap.why), number);
    if (auto stop = index->state().stop)
      fault(std::move(*stop), number);
  };
  const auto hole = [&](ArchiveError error) {
    // Segments behind it say again what they need.
    const auto last = error.lost ? snapshot.find(error.lost->last.value) : std::nullopt;
    const std::uint64_t number = last ? segments[*last].number() : 0;
    fault(std::move(error), number);
  };
  const auto first =
      std::ranges::lower_bound(segments, read.segment, {}, &Snapshot::Listed::number);
  each_index(snapshot, visit_index, hole, static_cast<std::size_t>(first - segments.begin()));
  return read;
}

} // namespace datastream
