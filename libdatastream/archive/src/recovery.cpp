#include "recovery.hpp"

#include "errors.hpp"
#include "find_chain.hpp"
#include "format/frames_block.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <utility>

namespace datastream {

using namespace format;

namespace {

constexpr const char* index_directory = "index";
constexpr std::string_view temporary_end = ".tmp";
/// The index follows in steps of so many changed pages: bounded memory, few writes.
constexpr std::size_t pages_per_step = 1024;

using Kind = ArchiveError::Kind;

std::unexpected<WriteFailure> refuse(ArchiveError error) {
  return std::unexpected(WriteFailure{std::move(error), false});
}

std::unexpected<WriteFailure> refuse(const FileError& error) {
  return refuse(to_archive_error(error));
}

ArchiveId new_archive_id() {
  ArchiveId id{};
  std::random_device random;
  for (std::size_t at = 0; at < id.size(); at += sizeof(unsigned)) {
    const unsigned part = random();
    std::copy_n(reinterpret_cast<const char*>(&part), sizeof part, id.begin() + at);
  }
  return id;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

ArchiveError of_another_archive(const std::filesystem::path& segment) {
  return {Kind::damaged,
          segment.string() + ": is a segment of another archive, or has another segment's name",
          {}};
}

SequenceRange sequences(std::uint64_t first, std::uint64_t end) {
  return {{first}, {end - 1}};
}

void note(const Descriptors& descriptors, SegmentDeclarations& said) {
  for (const Declaration& declaration : descriptors.declarations)
    said.add(declaration);
  if (descriptors.source)
    said.set_source(*descriptors.source);
}

/// One recovery, step by step.
class Recovery {
public:
  Recovery(std::filesystem::path directory, const RecoveryOptions& options, Catalog& catalog,
           StoredPositions& positions)
      : directory_(std::move(directory)), options_(options), files_(options.files),
        catalog_(catalog), positions_(positions) {}

  std::expected<OpenedArchive, WriteFailure> run();

private:
  using Result = std::expected<void, WriteFailure>;

  Result list();
  Result look_into_metadata();
  Result check_identity();
  Result bring_tip_forward();
  Result take_over_metadata();
  Result check_listed();
  Result replay();
  Result replay_segment(std::uint64_t number, bool last);
  Result replay_sealed(const SegmentFile& segment, const SegmentFile::Sealed& sealed,
                       std::uint64_t bytes, bool last);
  Result replay_open(SegmentFile& segment, std::uint64_t size, bool last);
  Result take(const SegmentFile& segment, const IndexEntry& entry, const BlockPtr& body);
  Result follow();
  Result finish();

  std::expected<void, ArchiveError> open_metadata();
  Result write_tip(const MetadataCursor& end);
  std::filesystem::path path_of(std::uint64_t number) const {
    return directory_ / segment_name(number);
  }
  /// What is said when acknowledged frames are gone; `what` names file and offset.
  WriteFailure ahead(std::string what) const;
  WriteFailure segment_gone(std::uint64_t number, std::uint64_t durable) const;
  /// Where the sequences of the next segment begin, as far as one can be read.
  std::uint64_t begin_behind(std::uint64_t segment) const;
  void hole(Kind kind, std::string what, std::uint64_t first, std::uint64_t end);
  /// How far the archive was durable, as far as the tip tells, which the index has told.
  std::uint64_t acknowledged_end() const { return tip_ ? tip_->end_sequence : 1; }
  /// The same for the bytes of a segment that no other one is known to follow.
  std::uint64_t durable_bytes(std::uint64_t segment) const {
    return tip_ && tip_->segment == segment ? tip_->offset : 0;
  }

  std::filesystem::path directory_;
  const RecoveryOptions& options_;
  FileSystem& files_;
  Catalog& catalog_;
  StoredPositions& positions_;

  OpenedArchive opened_;
  std::vector<std::uint64_t> numbers_; ///< of the segments, ascending
  std::optional<Tip> tip_;
  std::optional<ArchiveId> metadata_archive_;
  std::optional<MetadataCursor> cursor_; ///< of the index, as it was found

  // While replaying.
  std::uint64_t sequence_ = 1;      ///< of the next frame
  std::optional<BlockPlace> start_; ///< within the first segment that is replayed
  Metadata::Batch batch_;
  MetadataCursor followed_;
};

WriteFailure Recovery::ahead(std::string what) const {
  return {{Kind::metadata_ahead,
           std::move(what) +
               ": frames that were acknowledged are gone. Look with: datastream-archive "
               "verify " +
               directory_.string() + "; to go on without them: datastream-archive reindex " +
               directory_.string(),
           {}},
          false};
}

WriteFailure Recovery::segment_gone(std::uint64_t number, std::uint64_t durable) const {
  return ahead(
      damaged(path_of(number), 0,
              {"the segment is missing, and was durable up to byte " + std::to_string(durable)})
          .message);
}

std::uint64_t Recovery::begin_behind(std::uint64_t segment) const {
  for (auto next = std::ranges::upper_bound(numbers_, segment); next != numbers_.end(); ++next)
    if (const auto file = SegmentFile::open(files_, path_of(*next)))
      return file->header().first_sequence;
  return acknowledged_end();
}

void Recovery::hole(Kind kind, std::string what, std::uint64_t first, std::uint64_t end) {
  ArchiveError error{kind, std::move(what), {}};
  if (first < end)
    error.lost = sequences(first, end);
  opened_.report.holes.push_back(std::move(error));
}

Recovery::Result Recovery::list() {
  const auto names = files_.list(directory_);
  if (!names)
    return refuse(names.error());
  for (const std::string& name : *names) {
    if (name.starts_with("seg_") && name.ends_with(temporary_end)) {
      if (const auto removed = files_.remove(directory_ / name); !removed)
        return refuse(removed.error());
      continue;
    }
    const auto parsed = parse_segment_name(name);
    if (!parsed)
      continue;
    if (parsed->generation != 0)
      return refuse({Kind::unsupported,
                     (directory_ / name).string() +
                         ": a segment of a generation that this library does not know",
                     {}});
    numbers_.push_back(parsed->number);
  }
  std::ranges::sort(numbers_);
  // After a crash some of these names may be in memory only, and what is said of their files soon
  // durable.
  if (auto synced = sync_directory(files_, directory_); !synced)
    return synced;
  auto tip = read_tip(files_, directory_);
  if (!tip)
    return refuse(tip.error());
  tip_ = *tip;
  return {};
}

std::expected<void, ArchiveError> Recovery::open_metadata() {
  auto metadata = Metadata::open(directory_ / index_directory, options_.metadata);
  if (!metadata)
    return std::unexpected(std::move(metadata.error()));
  const auto archive = (*metadata)->archive();
  if (!archive)
    return std::unexpected(archive.error());
  const auto cursor = (*metadata)->cursor();
  if (!cursor)
    return std::unexpected(cursor.error());
  opened_.metadata = std::move(*metadata);
  metadata_archive_ = *archive;
  cursor_ = *cursor;
  return {};
}

/// Also who makes it anew: it may know of frames that are gone, as nothing else does.
Recovery::Result Recovery::look_into_metadata() {
  auto opened = open_metadata();
  if (opened)
    return {};
  const std::string path = (directory_ / index_directory).string();
  if (options_.reindex && opened.error().kind == Kind::io) // which may pass
    opened.error().message += "; if nothing else helps, remove " + path + ", and all that it knows";
  if (!options_.reindex || opened.error().kind != Kind::damaged)
    return refuse(std::move(opened.error()));
  hole(Kind::damaged,
       path + ": is damaged. If it knew of frames that are gone, nobody knows that any more", 0, 0);
  return {};
}

Recovery::Result Recovery::check_identity() {
  std::optional<ArchiveId> id;
  if (tip_)
    id = tip_->archive;
  for (const std::uint64_t number : numbers_) {
    if (id && !options_.reindex)
      break;
    const auto segment = SegmentFile::open(files_, path_of(number));
    if (!segment)
      continue; // said when it is replayed
    if (id && segment->header().archive != *id)
      return refuse(of_another_archive(segment->path()));
    id = segment->header().archive;
  }
  if (id && metadata_archive_ && *metadata_archive_ != *id) {
    if (!options_.reindex)
      return refuse({Kind::damaged,
                     (directory_ / index_directory).string() +
                         ": is the index of another archive; make it anew with: "
                         "datastream-archive reindex " +
                         directory_.string(),
                     {}});
    cursor_.reset(); // and says nothing of this one
  }
  if (!id)
    id = metadata_archive_;
  opened_.report.created = numbers_.empty() && !id;
  if (options_.reindex && opened_.report.created)
    return refuse({Kind::not_an_archive, directory_.string() + ": there is no archive", {}});
  opened_.archive = id ? *id : new_archive_id();
  if (tip_)
    opened_.first_sequence = tip_->first_sequence;
  return {};
}

/// The tip, which is not synced, may be older than the index after a power cut. From here on it
/// knows as much: so readers see what is missing, and nothing is lost with the index.
Recovery::Result Recovery::bring_tip_forward() {
  const bool older = cursor_ && (!tip_ || std::pair(tip_->segment, tip_->offset) <
                                              std::pair(cursor_->segment, cursor_->place.offset));
  MetadataCursor end;
  if (older)
    end = *cursor_;
  else if (tip_ && options_.reindex)
    end = {tip_->segment, {tip_->offset, tip_->end_sequence, 0}};
  else
    return {};
  end.place.sequence = std::max(end.place.sequence, acknowledged_end());
  if (auto written = write_tip(end); !written)
    return written;
  if (options_.reindex)
    if (auto synced = opened_.tip->sync(); !synced)
      return refuse(std::move(synced.error()));
  return {};
}

Recovery::Result Recovery::take_over_metadata() {
  if (options_.reindex) {
    opened_.metadata.reset();
    if (auto destroyed = Metadata::destroy(directory_ / index_directory, options_.metadata);
        !destroyed)
      return refuse(std::move(destroyed.error()));
    if (auto made = open_metadata(); !made)
      return refuse(std::move(made.error()));
  }
  opened_.report.reindexed = !numbers_.empty() && !cursor_;
  batch_.set_archive(opened_.archive);
  positions_.reset(opened_.metadata.get());
  const auto declarations = opened_.metadata->declarations();
  if (!declarations)
    return refuse(declarations.error());
  for (const Declaration& declaration : *declarations)
    (void)catalog_.declare(declaration);
  return {};
}

Recovery::Result Recovery::check_listed() {
  const auto listed = opened_.metadata->segments();
  if (!listed)
    return refuse(listed.error());
  for (const ListedSegment& segment : *listed) {
    const std::filesystem::path path = path_of(segment.number);
    if (!std::ranges::binary_search(numbers_, segment.number)) {
      hole(Kind::missing, path.string() + ": this segment is missing", segment.first_sequence,
           segment.end_sequence);
      continue;
    }
    const auto file = files_.open(path, FileSystem::Mode::read);
    if (!file)
      return refuse(file.error());
    const auto bytes = (*file)->size();
    if (!bytes)
      return refuse(bytes.error());
    if (*bytes != segment.bytes)
      hole(Kind::damaged,
           path.string() + ": has " + std::to_string(*bytes) + " bytes instead of " +
               std::to_string(segment.bytes),
           segment.first_sequence, segment.end_sequence);
  }
  return {};
}

Recovery::Result Recovery::replay() {
  auto first = numbers_.begin();
  if (cursor_) {
    first = std::ranges::lower_bound(numbers_, cursor_->segment);
    sequence_ = cursor_->place.sequence;
    followed_ = *cursor_;
    if (first != numbers_.end() && *first == cursor_->segment)
      start_ = cursor_->place;
    else
      return std::unexpected(segment_gone(cursor_->segment, cursor_->place.offset));
  } else {
    sequence_ = opened_.first_sequence;
  }
  const std::uint64_t last =
      std::max(numbers_.empty() ? 0 : numbers_.back(), tip_ ? tip_->segment : 0);
  if (tip_ && (numbers_.empty() || numbers_.back() < last) && !options_.reindex)
    return std::unexpected(segment_gone(last, tip_->offset));
  for (auto at = first; at != numbers_.end(); ++at)
    if (auto replayed = replay_segment(*at, *at == last); !replayed)
      return replayed;
  return {};
}

Recovery::Result Recovery::replay_segment(std::uint64_t number, bool last) {
  auto segment = SegmentFile::open(files_, path_of(number));
  if (!segment) {
    ArchiveError& error = segment.error();
    if (error.kind != Kind::damaged)
      return refuse(std::move(error));
    if (last && !options_.reindex)
      return std::unexpected(ahead(error.message));
    // Until the next segment says where it begins, nobody knows what was in this one.
    hole(error.kind, error.message, 0, 0);
    return {};
  }
  const SegmentHeader& header = segment->header();
  if (header.archive != opened_.archive || header.number != number)
    return refuse(of_another_archive(segment->path()));
  if (!start_) {
    if (header.first_sequence < sequence_)
      return refuse({Kind::damaged,
                     segment->path().string() + ": begins at sequence " +
                         std::to_string(header.first_sequence) + ", which an earlier segment has",
                     {}});
    if (header.first_sequence > sequence_)
      hole(Kind::missing,
           directory_.string() + ": segments are missing before " + segment_name(number), sequence_,
           header.first_sequence);
    sequence_ = header.first_sequence;
  }
  if (last)
    if (auto durable = SegmentWriter::make_durable(
            files_, segment->path(),
            std::max<std::uint64_t>(durable_bytes(number), segment_header_bytes));
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
    hole(Kind::damaged, sealed.error().message, 0, 0);
  if (last && options_.committed && options_.committed->segment == number)
    *size = std::min(*size, options_.committed->offset);
  return replay_open(*segment, *size, last);
}

Recovery::Result Recovery::replay_sealed(const SegmentFile& segment,
                                         const SegmentFile::Sealed& sealed, std::uint64_t bytes,
                                         bool last) {
  const std::optional<BlockPlace> start = std::exchange(start_, std::nullopt);
  if (start && start->offset > sealed.end.offset)
    return std::unexpected(ahead(damaged(segment.path(), sealed.end.offset,
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
      hole(Kind::damaged, body.error().message, entry.header.first_sequence,
           entry.header.end_sequence());
      continue;
    }
    if (auto taken = take(segment, entry, *body); !taken)
      return taken;
  }
  if (last) // perhaps the last thing before everything stopped was to seal it
    if (const auto changed = files_.make_read_only(segment.path()); !changed)
      return refuse(changed.error());
  batch_.add(ListedSegment{segment.header().number, segment.header().first_sequence,
                           sealed.end.sequence, bytes});
  sequence_ = sealed.end.sequence;
  followed_ = {segment.header().number, sealed.end};
  return follow();
}

Recovery::Result Recovery::replay_open(SegmentFile& segment, std::uint64_t size, bool last) {
  const std::uint64_t number = segment.header().number;
  const std::optional<BlockPlace> start = std::exchange(start_, std::nullopt);
  const std::uint64_t durable = durable_bytes(number); // which must be there
  std::vector<IndexEntry> entries;
  SegmentDeclarations declared;
  BlockPlace place = segment.begin();
  std::optional<ArchiveError> fault;
  bool lost = false;
  while (place.offset < size) {
    auto entry = segment.read_entry(place, size);
    if (!entry) {
      ArchiveError& error = entry.error();
      if (error.kind == Kind::damaged && (!last || (options_.reindex && place.offset < durable))) {
        // Readers go on there, so what is behind it must not be stored twice.
        const auto found = find_chain(segment, place, size, {std::nullopt, begin_behind(number)});
        if (!found)
          return refuse(found.error());
        if (*found) {
          hole(Kind::damaged, error.message, place.sequence, (*found)->sequence);
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
        const bool accepted = !last || (options_.reindex && (lost || place.offset < durable));
        if (body.error().kind != Kind::damaged || !accepted) {
          fault = std::move(body.error());
          break;
        }
        // It costs what is in it. A reader goes on behind it as well, so that also behind what was
        // acknowledged no sequence is taken for free that a block has.
        hole(Kind::damaged, body.error().message, entry->header.first_sequence,
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
  followed_ = {number, place};
  if (!last)
    return {}; // what is missing shows where the next segment begins
  if (place.offset < durable) {
    if (!fault)
      fault = damaged(segment.path(), place.offset, {"the segment ends here"});
    if (!options_.reindex)
      return std::unexpected(
          ahead(fault->message + ", and was durable up to byte " + std::to_string(durable)));
    // Its numbers are taken.
    hole(Kind::damaged, fault->message, place.sequence, acknowledged_end());
    sequence_ = std::max(sequence_, acknowledged_end());
    lost = true;
  }
  if (lost)
    return {}; // and the archive goes on in another segment
  opened_.report.torn_bytes = size - place.offset;
  auto writer = SegmentWriter::resume(files_, segment, entries, std::move(declared));
  if (!writer)
    return std::unexpected(std::move(writer.error()));
  opened_.segment = std::make_unique<SegmentWriter>(std::move(*writer));
  return {};
}

Recovery::Result Recovery::take(const SegmentFile& segment, const IndexEntry& entry,
                                const BlockPtr& body) {
  if (entry.header.kind == BlockKind::descriptors) {
    const auto descriptors = decode_descriptors(entry.header, body);
    if (!descriptors) {
      hole(Kind::damaged, damaged(segment.path(), entry.offset, descriptors.error()).message, 0, 0);
      return {};
    }
    for (const Declaration& declaration : descriptors->declarations) {
      (void)catalog_.declare(declaration); // a segment repeats what an earlier one has
      batch_.add(declaration);
    }
  } else {
    const auto frames = decode_frames(entry.header, entry.directory, body);
    if (!frames) {
      hole(Kind::damaged, damaged(segment.path(), entry.offset, frames.error()).message,
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
    if (cursor_)
      opened_.report.adopted_frames += entry.header.frames;
  }
  followed_ = {segment.header().number, behind(entry)};
  return positions_.changed_pages() < pages_per_step ? Result() : follow();
}

Recovery::Result Recovery::follow() {
  const StoredPositions::Changes changes = positions_.take_changes();
  for (const StoredPositions::Change& change : changes.pages)
    batch_.set_positions(change.stream, change.page, change.positions);
  batch_.set_cursor(followed_);
  if (auto written = opened_.metadata->write(std::exchange(batch_, {}), false); !written)
    return refuse(std::move(written.error()));
  positions_.committed(changes.number);
  return {};
}

Recovery::Result Recovery::write_tip(const MetadataCursor& end) {
  if (!opened_.tip) {
    auto file = TipFile::open(files_, directory_, tip_);
    if (!file)
      return std::unexpected(std::move(file.error()));
    opened_.tip = std::make_unique<TipFile>(std::move(*file));
  }
  tip_ = {.archive = opened_.archive,
          .first_sequence = opened_.first_sequence,
          .end_sequence = end.place.sequence,
          .segment = end.segment,
          .offset = end.place.offset};
  if (auto written = opened_.tip->write(*tip_); !written)
    return refuse(std::move(written.error()));
  return {};
}

Recovery::Result Recovery::finish() {
  if (acknowledged_end() > sequence_) {
    const std::string what =
        damaged(path_of(tip_->segment), tip_->offset,
                {"sequence " + std::to_string(acknowledged_end() - 1) +
                 " was durable, and the segments end at " + std::to_string(sequence_ - 1)})
            .message;
    if (!options_.reindex)
      return std::unexpected(ahead(what));
    hole(Kind::missing, what, sequence_, acknowledged_end());
    sequence_ = acknowledged_end();
    opened_.segment.reset();
  }
  if (!opened_.segment) {
    SegmentHeader header;
    header.archive = opened_.archive;
    header.number = std::max(numbers_.empty() ? 0 : numbers_.back(), tip_ ? tip_->segment : 0) + 1;
    header.first_sequence = sequence_;
    header.created = now();
    auto segment = SegmentWriter::create(files_, directory_, header);
    if (!segment)
      return std::unexpected(std::move(segment.error()));
    opened_.segment = std::make_unique<SegmentWriter>(std::move(*segment));
  }
  followed_ = {opened_.segment->number(), opened_.segment->end()};
  if (auto followed = follow(); !followed)
    return followed;
  return write_tip(followed_);
}

std::expected<OpenedArchive, WriteFailure> Recovery::run() {
  for (const auto step : {&Recovery::list, &Recovery::look_into_metadata, &Recovery::check_identity,
                          &Recovery::bring_tip_forward, &Recovery::take_over_metadata,
                          &Recovery::check_listed, &Recovery::replay, &Recovery::finish})
    if (auto done = (this->*step)(); !done)
      return std::unexpected(std::move(done.error()));
  return std::move(opened_);
}

} // namespace

std::expected<OpenedArchive, WriteFailure> recover(const std::filesystem::path& directory,
                                                   const RecoveryOptions& options, Catalog& catalog,
                                                   StoredPositions& positions) {
  return Recovery(directory, options, catalog, positions).run();
}

} // namespace datastream
