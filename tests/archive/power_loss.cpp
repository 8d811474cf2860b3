#include "power_loss.hpp"

#include "format/tip.hpp"
#include "tip_file.hpp"

#include <datastream/archive/archive_reader.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <variant>

namespace datastream::test {

using Kind = FileOperation::Kind;
using Data = Survival::Data;
using Names = Survival::Names;

std::vector<NamedSurvival> plain_survivals() {
  return {
      {"everything", {}},
      {"nothing", {{Data::none, Names::none}, {Data::none, Names::none}}},
      {"data without names", {{Data::all, Names::none}, {Data::all, Names::none}}},
      {"names without data", {{Data::none, Names::all}, {Data::none, Names::all}}},
      {"the index and nothing else", {{Data::none, Names::none}, {Data::all, Names::all}}},
      {"everything but the index", {{Data::all, Names::all}, {Data::none, Names::none}}},
  };
}

std::vector<NamedSurvival> random_survivals() {
  return {
      {"torn writes", {{Data::torn, Names::all}, {Data::torn, Names::prefix}}},
      {"some sectors", {{Data::sectors, Names::all}, {Data::sectors, Names::prefix}}},
      {"some files and names", {{Data::random, Names::subset}, {Data::random, Names::prefix}}},
      {"the index and some names", {{Data::random, Names::subset}, {Data::all, Names::all}}},
  };
}

std::vector<NamedSurvival> survivals_without_index() {
  return {
      {"everything, without index", {{}, {}, true}},
      {"nothing, without index", {{Data::none, Names::none}, {}, true}},
      {"some sectors, without index", {{Data::sectors, Names::subset}, {}, true}},
      {"some files and names, without index", {{Data::random, Names::subset}, {}, true}},
  };
}

namespace {

/// How far a reader was told to look by this write of the tip.
std::size_t seen_with(const FileOperation& operation) {
  if (!operation.is(Kind::write) || !operation.of_tip())
    return 0;
  const auto tip = format::decode_tip(operation.bytes);
  return tip ? tip->end_sequence - 1 : 0;
}

bool at_least(const Promised& a, const Promised& b) {
  return a.frames >= b.frames && a.seen >= b.seen && a.declarations >= b.declarations &&
         a.reaches >= b.reaches;
}

} // namespace

std::size_t for_each_cut(const RecordedRun& run, const CutOptions& options,
                         const std::function<bool(const CutState&)>& look) {
  return for_each_cut(run, run.events(), options, look);
}

std::size_t for_each_cut(const RecordedRun& run, const std::deque<DiskEvent>& events,
                         const CutOptions& options,
                         const std::function<bool(const CutState&)>& look) {
  SimulatedDisk disk(run.durable());
  CutState state;
  for (; state.event < run.earlier_events(); ++state.event)
    if (!events[state.event].committed)
      disk.apply(events[state.event].operation);
  state.promised = run.promised_initially();
  std::unordered_map<std::uint64_t, Promised> looked_at;
  std::size_t calls = 0;
  for (;; ++state.event) {
    for (const NamedSurvival& survival : options.survivals)
      for (std::size_t draw = 0; draw < options.draws; ++draw) {
        std::mt19937_64 random((options.seed * 1'000'003 + state.event) * 1009 + draw);
        state.survival = survival.name;
        state.image = disk.after_power_cut(survival.survival, random);
        const auto [known, is_new] = looked_at.try_emplace(state.image.hash(), state.promised);
        if (!is_new && at_least(known->second, state.promised))
          continue;
        known->second = state.promised;
        ++calls;
        if (!look(state))
          return calls;
      }
    if (state.event == events.size())
      return calls;
    const DiskEvent& event = events[state.event];
    if (event.committed) {
      const Promised promised = run.promised(*event.committed);
      state.promised.frames = std::max(state.promised.frames, promised.frames);
      state.promised.declarations = std::max(state.promised.declarations, promised.declarations);
      state.promised.reaches = std::max(state.promised.reaches, promised.reaches);
    } else {
      disk.apply(event.operation);
      state.promised.seen = std::max(state.promised.seen, seen_with(event.operation));
    }
  }
}

std::optional<std::string> read_all(const std::filesystem::path& archive,
                                    std::vector<StoredFrame>& frames) {
  std::ostringstream wrong;
  const std::vector<std::string> names = segment_names(archive);
  for (const std::string& name : names) {
    const auto segment = SegmentFile::open(posix_file_system(), archive / name);
    if (!segment) {
      wrong << segment.error();
      return wrong.str();
    }
    const std::uint64_t size = *segment->size();
    bool sealed = false;
    for (BlockPlace place = segment->begin(); place.offset < size;) {
      const auto entry = segment->read_entry(place, size);
      if (!entry) {
        wrong << entry.error();
        return wrong.str();
      }
      if ((sealed = entry->header.kind == format::BlockKind::footer))
        break;
      const auto body = segment->read_body(*entry);
      if (!body) {
        wrong << body.error();
        return wrong.str();
      }
      if (entry->header.kind == format::BlockKind::frames) {
        const auto decoded = format::decode_frames(entry->header, entry->directory, *body);
        if (!decoded)
          return decoded.error().what;
        std::uint64_t sequence = entry->header.first_sequence;
        for (const FrameBatch& batch : decoded->batches)
          for (const FrameView& frame : batch)
            frames.push_back({sequence++, batch.stream(), frame.to_frame()});
      }
      place = behind(*entry);
    }
    if (!sealed && name != names.back())
      return name + " is not sealed, and others follow it";
  }
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (frames[i].sequence != i + 1) {
      wrong << "sequence " << frames[i].sequence << " instead of " << i + 1;
      return wrong.str();
    }
  return std::nullopt;
}

namespace {

/// Frames that no run has.
constexpr std::size_t new_frames = 10;

const StreamId& new_stream() {
  static const StreamId stream{"afterwards", {1}};
  return stream;
}

struct FaultFound {
  std::string what;
};

template <class... Parts>
[[noreturn]] void fault(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw FaultFound{text.str()};
}

std::unique_ptr<Archive> open_after_cut(const std::filesystem::path& directory,
                                        const RecordedRun& run) {
  ArchiveOptions options = run.options();
  options.group_delay = std::chrono::hours(1);
  auto archive = Archive::open(directory, std::move(options));
  if (!archive)
    fault("does not open: ", archive.error());
  for (const ArchiveError& hole : (*archive)->recovery().holes)
    fault("has a hole: ", hole);
  return std::move(*archive);
}

std::vector<StoredFrame> frames_of(const std::filesystem::path& directory) {
  std::vector<StoredFrame> frames;
  if (const auto wrong = read_all(directory, frames))
    fault("cannot be read: ", *wrong);
  return frames;
}

void check_tip(const std::filesystem::path& directory, std::size_t frames) {
  const auto tip = read_tip(posix_file_system(), directory);
  if (!tip || !*tip)
    fault("has no tip");
  if ((*tip)->end_sequence != frames + 1)
    fault("has ", frames, " frames and a tip that ends before ", (*tip)->end_sequence);
}

/// What a reader shows. It needs a tip, which a power cut may take.
std::vector<StoredFrame> shown_in(const std::filesystem::path& directory) {
  std::vector<StoredFrame> shown;
  const auto tip = read_tip(posix_file_system(), directory);
  auto reader = ArchiveReader::open(directory);
  if (!reader) {
    if (tip && *tip)
      fault("a reader cannot open it: ", reader.error());
    return shown;
  }
  auto cursor = reader->read_from({0});
  if (!cursor)
    fault("a reader cannot begin: ", cursor.error());
  while (true) {
    const auto batch = cursor->next();
    if (!batch)
      fault("a reader cannot go on: ", batch.error());
    if (!*batch)
      break;
    for (std::size_t i = 0; i < (*batch)->frames.size(); ++i)
      shown.push_back(
          {(*batch)->sequence(i).value, (*batch)->frames.stream(), (*batch)->frames[i].to_frame()});
  }
  return shown;
}

bool is_declared(const Catalog& catalog, const Declaration& declaration) {
  if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration)) {
    const auto found = catalog.find_stream((*stream)->stream);
    return found && *found == **stream;
  }
  const ChannelDescriptor& channel = *std::get<ChannelDescriptorPtr>(declaration);
  const auto found = catalog.find_channel(channel.stream, channel.id);
  return found && *found == channel;
}

/// How far each stream reaches, for a reader.
std::map<StreamId, ArchivedStreamInfo> streams_in(const std::filesystem::path& directory) {
  auto reader = ArchiveReader::open(directory);
  if (!reader)
    fault("a reader cannot open it: ", reader.error());
  auto streams = reader->streams();
  if (!streams)
    fault("a reader cannot list its streams: ", streams.error());
  std::map<StreamId, ArchivedStreamInfo> by_id;
  for (ArchivedStreamInfo& info : *streams)
    by_id.emplace(info.stream, std::move(info));
  return by_id;
}

/// Whether a stream is known to reach at least as far as was said.
bool is_told(const std::map<StreamId, ArchivedStreamInfo>& streams, const Reach& reach) {
  const auto* start = std::get_if<StreamStart>(&reach);
  const auto known = streams.find(start ? start->stream : std::get<StreamEnd>(reach).stream);
  if (known == streams.end())
    return false;
  const ArchivedStreamInfo& info = known->second;
  return start ? info.from && *info.from <= start->from
               : info.assigned && *info.assigned >= std::get<StreamEnd>(reach).assigned;
}

/// Offers a batch and says how many of it were taken.
std::size_t offer(Archive& archive, const FrameBatch& batch) {
  const auto appended = archive.append(batch);
  if (appended.conflicts != 0 || appended.not_stored != 0)
    fault(appended.conflicts, " conflicts, and ", appended.not_stored, " not stored, of frames ",
          "that were stored or are new");
  if (appended.taken + appended.duplicates + appended.unverified != batch.size())
    fault("what became of a batch does not add up");
  return appended.taken;
}

/// Everything of the run once more, as a source would send it that did not hear of its success.
std::size_t offer_all(Archive& archive, const std::vector<StoredFrame>& frames) {
  std::size_t taken = 0;
  for (std::size_t begin = 0; begin < frames.size();) {
    std::vector<Frame> batch;
    const StreamId& stream = frames[begin].stream;
    for (; begin < frames.size() && frames[begin].stream == stream; ++begin)
      batch.push_back(frames[begin].frame);
    taken += offer(archive, FrameBatch::copy_of(stream, batch));
  }
  return taken;
}

void check(const CutState& state, const RecordedRun& run) {
  const TemporaryDirectory root;
  state.image.write_to(root.path());
  const std::filesystem::path directory = root / "archive";
  const std::vector<StoredFrame>& stored = run.stored();
  const std::vector<StoredFrame> shown = shown_in(directory);
  {
    const auto archive = open_after_cut(directory, run);
    const std::vector<StoredFrame> found = frames_of(directory);
    if (found.size() < std::max(state.promised.frames, state.promised.seen))
      fault("has ", found.size(), " frames: ", state.promised.frames, " were acknowledged and ",
            state.promised.seen, " could be seen");
    if (found.size() > stored.size() || !std::equal(found.begin(), found.end(), stored.begin()))
      fault("has frames that nobody stored, or others under their sequences");
    if (found.size() < shown.size() || !std::equal(shown.begin(), shown.end(), found.begin()))
      fault("has ", found.size(), " frames, and a reader had ", shown.size(), " or others");
    if (archive->last_durable().value != found.size())
      fault("has ", found.size(), " frames and says ", archive->last_durable());
    check_tip(directory, found.size());
    for (std::size_t i = 0; i < state.promised.declarations; ++i)
      if (!is_declared(archive->catalog(), run.declared()[i]))
        fault("does not know declaration ", i);
    if (state.promised.reaches > 0) {
      const auto streams = streams_in(directory);
      for (std::size_t i = 0; i < state.promised.reaches; ++i)
        if (!is_told(streams, run.reaches()[i]))
          fault("does not know beginning or end ", i);
    }

    const std::size_t missing = stored.size() - found.size();
    if (const std::size_t taken = offer_all(*archive, stored); taken != missing)
      fault("takes ", taken, " of ", missing, " missing frames");
    if (offer(*archive, batch_of(new_stream(), 0, new_frames)) != new_frames)
      fault("does not take new frames");
    const auto flushed = archive->flush();
    if (!flushed)
      fault("does not go on: ", flushed.error());
    const ArchiveLedger ledger = archive->ledger();
    if (!ledger.balanced() || ledger.stored != missing + new_frames || ledger.pending != 0 ||
        ledger.offered != stored.size() + new_frames)
      fault("has a ledger that does not add up");
  }
  const auto archive = open_after_cut(directory, run);
  std::vector<StoredFrame> expected = stored;
  for (std::size_t i = 0; i < new_frames; ++i)
    expected.push_back(
        {stored.size() + i + 1, new_stream(), batch_of(new_stream(), i, 1)[0].to_frame()});
  if (frames_of(directory) != expected)
    fault("does not have all frames in order once they came again");
  if (shown_in(directory) != expected)
    fault("a reader does not show all frames in order once they came again");
  if (archive->recovery().torn_bytes != 0 || archive->recovery().reindexed)
    fault("was not closed well");
  if (offer_all(*archive, expected) != 0)
    fault("takes frames twice");
  if (!archive->ledger().balanced())
    fault("has a ledger that does not add up when it is opened again");
}

} // namespace

std::optional<std::string> fault_in(const CutState& state, const RecordedRun& run) {
  try {
    check(state, run);
  } catch (const FaultFound& fault) {
    return fault.what;
  }
  return std::nullopt;
}

std::ostream& operator<<(std::ostream& out, const CutState& state) {
  return out << "after event " << state.event << ", left: " << state.survival << ", promised "
             << state.promised.frames << " frames, seen " << state.promised.seen << ", declared "
             << state.promised.declarations << ", beginnings and ends " << state.promised.reaches;
}

} // namespace datastream::test
