#include "replay.hpp"

#include "find_chain.hpp"
#include "format/descriptors_block.hpp"
#include "format/frames_block.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace datastream {

using namespace format;

namespace {

/// The index follows in steps of so many changed pages: bounded memory, few writes.
constexpr std::size_t pages_per_step = 1024;

using Kind = ArchiveError::Kind;

void note(const Descriptors& descriptors, SegmentDeclarations& said) {
  for (const Declaration& declaration : descriptors.declarations)
    said.add(declaration);
  if (descriptors.source)
    said.set_source(*descriptors.source);
}

} // namespace

Replay::Result Replay::run() {
  batch_.set_archive(state_.opened.archive);
  auto first = state_.numbers.begin();
  if (state_.cursor) {
    first = std::ranges::lower_bound(state_.numbers, state_.cursor->segment);
    sequence_ = state_.cursor->place.sequence;
    if (first != state_.numbers.end() && *first == state_.cursor->segment)
      start_ = state_.cursor->place;
    else
      return std::unexpected(
          state_.segment_gone(state_.cursor->segment, state_.cursor->place.offset));
  } else {
    sequence_ = state_.opened.first_sequence;
  }
  const std::uint64_t last = state_.last_segment();
  if (state_.tip && (state_.numbers.empty() || state_.numbers.back() < last) &&
      !state_.options.reindex)
    return std::unexpected(state_.segment_gone(last, state_.tip->offset));
  for (auto at = first; at != state_.numbers.end(); ++at)
    if (auto replayed = replay_segment(*at, *at == last); !replayed)
      return replayed;
  return {};
}

Replay::Result Replay::replay_segment(std::uint64_t number, bool last) {
  auto segment = SegmentFile::open(state_.files, state_.path_of(number));
  if (!segment) {
    ArchiveError& error = segment.error();
    if (error.kind != Kind::damaged)
      return refuse(std::move(error));
    if (last && !state_.options.reindex)
      return std::unexpected(state_.ahead(error.message));
    // Until the next segment says where it begins, nobody knows what was in this one.
    state_.hole(error.kind, error.message, 0, 0);
    return {};
  }
  const SegmentHeader& header = segment->header();
  if (header.archive != state_.opened.archive || header.number != number)
    return refuse(of_another_archive(segment->path()));
  if (!start_) {
    if (header.first_sequence < sequence_)
      return refuse({Kind::damaged,
                     segment->path().string() + ": begins at sequence " +
                         std::to_string(header.first_sequence) + ", which an earlier segment has",
                     {}});
    if (header.first_sequence > sequence_)
      state_.hole(Kind::missing,
                  state_.directory.string() + ": segments are missing before " +
                      segment_name(number),
                  sequence_, header.first_sequence);
    sequence_ = header.first_sequence;
  }
  if (last)
    if (auto durable = SegmentWriter::make_durable(
            state_.files, segment->path(),
            std::max<std::uint64_t>(state_.durable_bytes(number), segment_header_bytes));
        !durable)
      return durable;
  auto size = segment->size();
  if (!size)
    return refuse(size.error());
  auto sealed = segment->read_footer(*size);
  if (!sealed && sealed.error().kind != Kind::damaged)
    return refuse(std::move(sealed.error()));
  if (sealed && *sealed)
    return replay_sealed(*segment, **sealed, *size, last);
  // Its blocks may be whole. And the last one was perhaps being sealed when everything stopped, of
  // which a disk may have kept the end and not the beginning.
  if (!sealed && !last)
    state_.hole(Kind::damaged, sealed.error().message, 0, 0);
  if (last && state_.options.committed && state_.options.committed->segment == number)
    *size = std::min(*size, state_.options.committed->offset);
  return replay_open(*segment, *size, last);
}

Replay::Result Replay::replay_sealed(const SegmentFile& segment, const SegmentFile::Sealed& sealed,
                                     std::uint64_t bytes, bool last) {
  const std::optional<BlockPlace> start = std::exchange(start_, std::nullopt);
  if (start && start->offset > sealed.end.offset)
    return std::unexpected(
        state_.ahead(damaged(segment.path(), sealed.end.offset,
                             {"the segment ends here, and was durable up to byte " +
                              std::to_string(start->offset)})
                         .message));
  for (const IndexEntry& entry : sealed.entries) {
    if (start && entry.offset < start->offset)
      continue;
    const auto body = segment.read_body(entry);
    if (!body && body.error().kind != Kind::damaged)
      return refuse(body.error());
    if (!body) {
      state_.hole(Kind::damaged, body.error().message, entry.header.first_sequence,
                  entry.header.end_sequence());
      continue;
    }
    if (auto taken = take(segment, entry, *body); !taken)
      return taken;
  }
  if (last) // perhaps the last thing before everything stopped was to seal it
    if (const auto changed = state_.files.make_read_only(segment.path()); !changed)
      return refuse(changed.error());
  batch_.add(ListedSegment{segment.header().number, segment.header().first_sequence,
                           sealed.end.sequence, bytes});
  sequence_ = sealed.end.sequence;
  return follow({segment.header().number, sealed.end});
}

Replay::Result Replay::replay_open(SegmentFile& segment, std::uint64_t size, bool last) {
  const std::uint64_t number = segment.header().number;
  const std::optional<BlockPlace> start = std::exchange(start_, std::nullopt);
  const std::uint64_t durable = state_.durable_bytes(number); // which must be there
  std::vector<IndexEntry> entries;
  SegmentDeclarations declared;
  BlockPlace place = segment.begin();
  std::optional<ArchiveError> fault;
  bool lost = false;
  while (place.offset < size) {
    auto entry = segment.read_entry(place, size);
    if (!entry) {
      ArchiveError& error = entry.error();
      if (error.kind == Kind::damaged &&
          (!last || (state_.options.reindex && place.offset < durable))) {
        // Readers go on there, so what is behind it must not be stored twice.
        const auto found =
            find_chain(segment, place, size, {std::nullopt, state_.begin_behind(number)});
        if (!found)
          return refuse(found.error());
        if (*found) {
          state_.hole(Kind::damaged, error.message, place.sequence, (*found)->sequence);
          place = **found;
          lost = true;
          continue;
        }
      }
      fault = std::move(error);
      break;
    }
    // A footer without its trailer was being written when everything stopped.
    if (entry->header.kind == BlockKind::footer) {
      fault = damaged(segment.path(), place.offset, {"the footer is not complete"});
      break;
    }
    const bool known = start && place.offset < start->offset;
    if (!known || entry->header.kind == BlockKind::descriptors) {
      auto body = segment.read_body(*entry);
      if (body && entry->header.kind == BlockKind::descriptors) {
        const auto descriptors = decode_descriptors(entry->header, *body);
        if (!descriptors)
          body = std::unexpected(damaged(segment.path(), place.offset, descriptors.error()));
        else
          note(*descriptors, declared);
      }
      if (body && !known) {
        if (auto taken = take(segment, *entry, *body); !taken)
          return taken;
      } else if (!body) {
        const bool accepted = !last || (state_.options.reindex && (lost || place.offset < durable));
        if (body.error().kind != Kind::damaged || !accepted) {
          fault = std::move(body.error());
          break;
        }
        // It costs what is in it. A reader goes on behind it as well, so that also behind what was
        // acknowledged no sequence is taken for free that a block has.
        state_.hole(Kind::damaged, body.error().message, entry->header.first_sequence,
                    entry->header.end_sequence());
        lost = true;
      }
    }
    place = behind(*entry);
    entries.push_back(std::move(*entry));
  }
  if (fault && fault->kind != Kind::damaged)
    return refuse(std::move(*fault));
  sequence_ = place.sequence;
  if (!last)
    return {}; // what is missing shows where the next segment begins
  if (place.offset < durable) {
    if (!fault)
      fault = damaged(segment.path(), place.offset, {"the segment ends here"});
    if (!state_.options.reindex)
      return std::unexpected(
          state_.ahead(fault->message + ", and was durable up to byte " + std::to_string(durable)));
    // Its numbers are taken.
    state_.hole(Kind::damaged, fault->message, place.sequence, state_.acknowledged_end());
    sequence_ = std::max(sequence_, state_.acknowledged_end());
    lost = true;
  }
  if (lost)
    return {}; // and the archive goes on in another segment
  state_.opened.report.torn_bytes = size - place.offset;
  auto writer = SegmentWriter::resume(state_.files, segment, entries, std::move(declared));
  if (!writer)
    return std::unexpected(std::move(writer.error()));
  state_.opened.segment = std::make_unique<SegmentWriter>(std::move(*writer));
  return {};
}

Replay::Result Replay::take(const SegmentFile& segment, const IndexEntry& entry,
                            const BlockPtr& body) {
  if (entry.header.kind == BlockKind::descriptors) {
    const auto descriptors = decode_descriptors(entry.header, body);
    if (!descriptors) {
      state_.hole(Kind::damaged, damaged(segment.path(), entry.offset, descriptors.error()).message,
                  0, 0);
      return {};
    }
    for (const Declaration& declaration : descriptors->declarations) {
      (void)catalog_.declare(declaration); // a segment repeats what an earlier one has
      batch_.add(declaration);
    }
  } else {
    const auto frames = decode_frames(entry.header, entry.directory, body);
    if (!frames) {
      state_.hole(Kind::damaged, damaged(segment.path(), entry.offset, frames.error()).message,
                  entry.header.first_sequence, entry.header.end_sequence());
      return {};
    }
    for (const FrameBatch& batch : frames->batches)
      for (const FrameView& frame : batch) {
        const auto place = positions_.look(batch.stream(), frame);
        if (!place)
          return refuse(place.error());
        if (place->seen == StoredPositions::Seen::fresh)
          positions_.mark(*place);
      }
    if (state_.cursor)
      state_.opened.report.adopted_frames += entry.header.frames;
  }
  return positions_.changed_pages() < pages_per_step
             ? Result()
             : follow({segment.header().number, behind(entry)});
}

Replay::Result Replay::follow(const MetadataCursor& end) {
  const StoredPositions::Changes changes = positions_.take_changes();
  for (const StoredPositions::Change& change : changes.pages)
    batch_.set_positions(change.stream, change.page, change.positions);
  batch_.set_cursor(end);
  if (auto written = state_.opened.metadata->write(std::exchange(batch_, {}), false); !written)
    return refuse(std::move(written.error()));
  positions_.committed(changes.number);
  return {};
}

} // namespace datastream
