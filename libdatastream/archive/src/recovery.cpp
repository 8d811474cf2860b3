#include "recovery.hpp"

#include "format/time.hpp"
#include "recovery_state.hpp"
#include "replay.hpp"

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

using Kind = ArchiveError::Kind;

ArchiveId new_archive_id() {
  ArchiveId id{};
  std::random_device random;
  for (std::size_t at = 0; at < id.size(); at += sizeof(unsigned)) {
    const unsigned part = random();
    std::copy_n(reinterpret_cast<const char*>(&part), sizeof part, id.begin() + at);
  }
  return id;
}

/// One recovery, step by step.
class Recovery {
public:
  Recovery(const std::filesystem::path& directory, const RecoveryOptions& options, Catalog& catalog,
           StoredPositions& positions)
      : state_(directory, options), catalog_(catalog), positions_(positions),
        replay_(state_, catalog, positions) {}

  std::expected<OpenedArchive, WriteFailure> run();

private:
  using Result = std::expected<void, WriteFailure>;

  Result list();
  Result look_into_metadata();
  Result check_identity();
  Result bring_tip_forward();
  Result take_over_metadata();
  Result check_listed();
  Result replay() { return replay_.run(); }
  Result finish();

  std::expected<void, ArchiveError> open_metadata();
  Result write_tip(const MetadataCursor& end);

  RecoveryState state_;
  Catalog& catalog_;
  StoredPositions& positions_;
  Replay replay_;
  std::optional<ArchiveId> metadata_archive_;
};

Recovery::Result Recovery::list() {
  const auto names = state_.files.list(state_.directory);
  if (!names)
    return refuse(names.error());
  for (const std::string& name : *names) {
    if (name.starts_with("seg_") && name.ends_with(unfinished_end)) {
      if (const auto removed = state_.files.remove(state_.directory / name); !removed)
        return refuse(removed.error());
      continue;
    }
    const auto parsed = parse_segment_name(name);
    if (!parsed)
      continue;
    if (parsed->generation != 0)
      return refuse({Kind::unsupported,
                     (state_.directory / name).string() +
                         ": a segment of a generation that this library does not know",
                     {}});
    state_.numbers.push_back(parsed->number);
  }
  std::ranges::sort(state_.numbers);
  // After a crash some of these names may be in memory only, and what is said of their files soon
  // durable.
  if (auto synced = sync_directory(state_.files, state_.directory); !synced)
    return synced;
  auto tip = read_tip(state_.files, state_.directory);
  if (!tip)
    return refuse(tip.error());
  state_.tip = *tip;
  return {};
}

std::expected<void, ArchiveError> Recovery::open_metadata() {
  auto metadata = Metadata::open(state_.directory / index_directory, state_.options.metadata);
  if (!metadata)
    return std::unexpected(std::move(metadata.error()));
  const auto archive = (*metadata)->archive();
  if (!archive)
    return std::unexpected(archive.error());
  const auto cursor = (*metadata)->cursor();
  if (!cursor)
    return std::unexpected(cursor.error());
  state_.opened.metadata = std::move(*metadata);
  metadata_archive_ = *archive;
  state_.cursor = *cursor;
  return {};
}

/// Also who makes it anew: it may know of frames that are gone, as nothing else does.
Recovery::Result Recovery::look_into_metadata() {
  auto opened = open_metadata();
  if (opened)
    return {};
  const std::string path = (state_.directory / index_directory).string();
  if (state_.options.reindex && opened.error().kind == Kind::io) // which may pass
    opened.error().message += "; if nothing else helps, remove " + path + ", and all that it knows";
  if (!state_.options.reindex || opened.error().kind != Kind::damaged)
    return refuse(std::move(opened.error()));
  state_.hole(Kind::damaged,
              path + ": is damaged. If it knew of frames that are gone, nobody knows that any more",
              0, 0);
  return {};
}

Recovery::Result Recovery::check_identity() {
  std::optional<ArchiveId> id;
  if (state_.tip)
    id = state_.tip->archive;
  for (const std::uint64_t number : state_.numbers) {
    if (id && !state_.options.reindex)
      break;
    const auto segment = SegmentFile::open(state_.files, state_.path_of(number));
    if (!segment)
      continue; // said when it is replayed
    if (id && segment->header().archive != *id)
      return refuse(of_another_archive(segment->path()));
    id = segment->header().archive;
  }
  if (id && metadata_archive_ && *metadata_archive_ != *id) {
    if (!state_.options.reindex)
      return refuse({Kind::damaged,
                     (state_.directory / index_directory).string() +
                         ": is the index of another archive; make it anew with: "
                         "datastream-archive reindex " +
                         state_.directory.string(),
                     {}});
    state_.cursor.reset(); // and says nothing of this one
  }
  if (!id)
    id = metadata_archive_;
  state_.opened.report.created = state_.numbers.empty() && !id;
  if (state_.options.reindex && state_.opened.report.created)
    return refuse({Kind::not_an_archive, state_.directory.string() + ": there is no archive", {}});
  state_.opened.archive = id ? *id : new_archive_id();
  if (state_.tip)
    state_.opened.first_sequence = state_.tip->first_sequence;
  return {};
}

/// The tip, which is not synced, may be older than the index after a power cut. From here on it
/// knows as much: so readers see what is missing, and nothing is lost with the index.
Recovery::Result Recovery::bring_tip_forward() {
  const bool older =
      state_.cursor &&
      (!state_.tip || std::pair(state_.tip->segment, state_.tip->offset) <
                          std::pair(state_.cursor->segment, state_.cursor->place.offset));
  MetadataCursor end;
  if (older)
    end = *state_.cursor;
  else if (state_.tip && state_.options.reindex)
    end = {state_.tip->segment, {state_.tip->offset, state_.tip->end_sequence, 0}};
  else
    return {};
  end.place.sequence = std::max(end.place.sequence, state_.acknowledged_end());
  if (auto written = write_tip(end); !written)
    return written;
  if (state_.options.reindex)
    if (auto synced = state_.opened.tip->sync(); !synced)
      return refuse(std::move(synced.error()));
  return {};
}

Recovery::Result Recovery::take_over_metadata() {
  if (state_.options.reindex) {
    state_.opened.metadata.reset();
    if (auto destroyed =
            Metadata::destroy(state_.directory / index_directory, state_.options.metadata);
        !destroyed)
      return refuse(std::move(destroyed.error()));
    if (auto made = open_metadata(); !made)
      return refuse(std::move(made.error()));
  }
  state_.opened.report.reindexed = !state_.numbers.empty() && !state_.cursor;
  positions_.reset(state_.opened.metadata.get());
  const auto declarations = state_.opened.metadata->declarations();
  if (!declarations)
    return refuse(declarations.error());
  for (const Declaration& declaration : *declarations)
    (void)catalog_.declare(declaration);
  return {};
}

Recovery::Result Recovery::check_listed() {
  const auto listed = state_.opened.metadata->segments();
  if (!listed)
    return refuse(listed.error());
  for (const ListedSegment& segment : *listed) {
    const std::filesystem::path path = state_.path_of(segment.number);
    if (!std::ranges::binary_search(state_.numbers, segment.number)) {
      state_.hole(Kind::missing, path.string() + ": this segment is missing",
                  segment.first_sequence, segment.end_sequence);
      continue;
    }
    const auto file = state_.files.open(path, FileSystem::Mode::read);
    if (!file)
      return refuse(file.error());
    const auto bytes = (*file)->size();
    if (!bytes)
      return refuse(bytes.error());
    if (*bytes != segment.bytes)
      state_.hole(Kind::damaged,
                  path.string() + ": has " + std::to_string(*bytes) + " bytes instead of " +
                      std::to_string(segment.bytes),
                  segment.first_sequence, segment.end_sequence);
  }
  return {};
}

Recovery::Result Recovery::write_tip(const MetadataCursor& end) {
  if (!state_.opened.tip) {
    auto file = TipFile::open(state_.files, state_.directory, state_.tip);
    if (!file)
      return std::unexpected(std::move(file.error()));
    state_.opened.tip = std::make_unique<TipFile>(std::move(*file));
  }
  state_.tip = {.archive = state_.opened.archive,
                .first_sequence = state_.opened.first_sequence,
                .end_sequence = end.place.sequence,
                .segment = end.segment,
                .offset = end.place.offset};
  if (auto written = state_.opened.tip->write(*state_.tip); !written)
    return refuse(std::move(written.error()));
  return {};
}

Recovery::Result Recovery::finish() {
  std::uint64_t sequence = replay_.sequence();
  if (state_.acknowledged_end() > sequence) {
    const std::string what =
        damaged(state_.path_of(state_.tip->segment), state_.tip->offset,
                {"sequence " + std::to_string(state_.acknowledged_end() - 1) +
                 " was durable, and the segments end at " + std::to_string(sequence - 1)})
            .message;
    if (!state_.options.reindex)
      return std::unexpected(state_.ahead(what));
    state_.hole(Kind::missing, what, sequence, state_.acknowledged_end());
    sequence = state_.acknowledged_end();
    state_.opened.segment.reset();
  }
  if (!state_.opened.segment) {
    SegmentHeader header;
    header.archive = state_.opened.archive;
    header.number = state_.last_segment() + 1;
    header.first_sequence = sequence;
    header.created = microseconds_of(std::chrono::system_clock::now());
    auto segment = SegmentWriter::create(state_.files, state_.directory, header);
    if (!segment)
      return std::unexpected(std::move(segment.error()));
    state_.opened.segment = std::make_unique<SegmentWriter>(std::move(*segment));
  }
  const MetadataCursor end{state_.opened.segment->number(), state_.opened.segment->end()};
  if (auto followed = replay_.follow(end); !followed)
    return followed;
  return write_tip(end);
}

std::expected<OpenedArchive, WriteFailure> Recovery::run() {
  for (const auto step : {&Recovery::list, &Recovery::look_into_metadata, &Recovery::check_identity,
                          &Recovery::bring_tip_forward, &Recovery::take_over_metadata,
                          &Recovery::check_listed, &Recovery::replay, &Recovery::finish})
    if (auto done = (this->*step)(); !done)
      return std::unexpected(std::move(done.error()));
  return std::move(state_.opened);
}

} // namespace

std::expected<OpenedArchive, WriteFailure> recover(const std::filesystem::path& directory,
                                                   const RecoveryOptions& options, Catalog& catalog,
                                                   StoredPositions& positions) {
  return Recovery(directory, options, catalog, positions).run();
}

} // namespace datastream
