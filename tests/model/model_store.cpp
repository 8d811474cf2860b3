#include "model_store.hpp"

#include "must.hpp"

#include <datastream/model/health.hpp>
#include <datastream/views/channel_classifier.hpp>
#include <datastream/views/channel_names.hpp>
#include <datastream/views/filter.hpp>
#include <datastream/views/grep.hpp>
#include <datastream/views/latest.hpp>
#include <datastream/views/ledger.hpp>
#include <datastream/views/lines.hpp>
#include <datastream/views/merged_log.hpp>
#include <datastream/views/metric_series.hpp>
#include <datastream/views/tail.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

namespace datastream::model_test {
namespace {

bool same(const FrameView& seen, const FramePtr& frame) {
  return seen.position == frame->position && seen.channel == frame->channel &&
         seen.payload == frame->payload->bytes;
}

template <class Range>
void must_show(Range&& seen, const Frames& frames, std::string_view view) {
  auto expected = frames.begin();
  for (const FrameView& frame : seen) {
    must(expected != frames.end() && same(frame, *expected), view);
    ++expected;
  }
  must(expected == frames.end(), view);
}

template <class Alternative>
bool is(const LogEntry& entry, const Alternative& expected) {
  const auto* held = std::get_if<Alternative>(&entry);
  return held && *held == expected;
}

/// What a view makes of a payload on a channel of this content.
void must_be_decoded(const Body& body, const Payload& payload, const ChannelDescriptor* channel) {
  if (channel && std::holds_alternative<TextStream>(channel->content) && payload.utf8)
    must(body == Body(body::Text{payload.bytes}), "text is shown as text");
  else if (channel && std::holds_alternative<JsonRecord>(channel->content) &&
           (payload.json || payload.health))
    must(std::holds_alternative<body::Record>(body), "a record is shown as a record");
  else
    must(body == Body(body::Raw{payload.bytes}), "what cannot be decoded is shown raw");
}

} // namespace

void ModelStored::store(const Frames& frames) {
  for (const FramePtr& frame : frames) {
    ++arrived_;
    const Position position = frame->position;
    if (evicted_last_ && position <= *evicted_last_) {
      ++late_;
      continue;
    }
    const auto [it, fresh] = frames_.try_emplace(position, frame);
    if (!fresh) {
      const bool equal = it->second->channel == frame->channel &&
                         it->second->payload->bytes == frame->payload->bytes;
      ++(equal ? duplicates_ : conflicts_);
      continue;
    }
    ++stored_;
    bytes_ += frame->payload->bytes.size();
    lowest_ = std::min(lowest_.value_or(position), position);
    highest_ = std::max(highest_.value_or(position), position);
  }
  while (frames_.size() > retention_.frames || bytes_ > retention_.bytes) {
    const std::size_t bytes = frames_.begin()->second->payload->bytes.size();
    bytes_ -= bytes;
    evicted_bytes_ += bytes;
    if (evicted_last_)
      evicted_missing_ += frames_.begin()->first.value - evicted_last_->value - 1;
    evicted_last_ = frames_.begin()->first;
    frames_.erase(frames_.begin());
  }
}

void ModelStored::expect_from(Position from) {
  from_ = std::min(from_.value_or(from), from);
}

IngestLedger ModelStored::ledger() const {
  IngestLedger ledger;
  ledger.stream = id_;
  ledger.arrived = arrived_;
  ledger.stored = stored_;
  ledger.duplicates = duplicates_;
  ledger.conflicts = conflicts_;
  ledger.late_for_evicted = late_;
  ledger.evicted = stored_ - frames_.size();
  ledger.assigned = assigned_;
  ledger.lowest_stored = lowest_;
  ledger.highest_stored = highest_;
  ledger.from = from_; // what has come was offered
  if (from_ && lowest_)
    ledger.from = std::min(*from_, *lowest_);
  return ledger;
}

void ModelStored::must_balance() const {
  const IngestLedger ledger = this->ledger();
  must(ledger.balanced(), "what arrived is stored, refused or missing, and no two of them");
  must_equal(arrived_, stored_ + duplicates_ + conflicts_ + late_, "frames that arrived");
  if (ledger.from && assigned_)
    must_equal(ledger.leading().value() + ledger.interior_gaps() + ledger.trailing().value(),
               *assigned_ - ledger.from->value - stored_, "positions that are missing");
}

std::vector<ModelStored::Entry> ModelStored::log(Position from) const {
  std::vector<Entry> entries;
  if (evicted_last_ && Position{evicted_last_->value + 1} > from)
    entries.emplace_back(EvictedRange{
        {evicted_last_->value + 1}, stored_ - frames_.size(), evicted_bytes_, evicted_missing_});
  std::optional<Position> before = evicted_last_;
  for (const auto& [position, frame] : frames_) {
    if (before && before->value + 1 < position.value && position > from)
      entries.emplace_back(
          GapSpan{std::max(Position{before->value + 1}, from), {position.value - 1}});
    before = position;
    if (position >= from)
      entries.emplace_back(frame);
  }
  return entries;
}

void ModelStored::must_page_so(System& system, Position from, std::uint32_t at_most) const {
  const StoredPage page = system.page(id_, from, at_most);
  Frames frames;
  for (auto it = frames_.lower_bound(from); it != frames_.end() && frames.size() < at_most; ++it)
    frames.push_back(it->second);
  must_equal(page.frames.size(), frames.size(), "frames of a page");
  for (std::size_t i = 0; i < frames.size(); ++i)
    must(same({page.frames[i].channel, page.frames[i].position, page.frames[i].payload, {}},
              frames[i]),
         "a page shows what is stored");
  const auto rest =
      frames.empty() ? frames_.lower_bound(from) : frames_.upper_bound(frames.back()->position);
  must_equal(page.more, rest != frames_.end(), "more behind a page");
  std::optional<EvictedRange> evicted;
  std::vector<GapSpan> gaps;
  for (const Entry& entry : log(from))
    if (const auto* range = std::get_if<EvictedRange>(&entry))
      evicted = *range;
  must(page.evicted == evicted, "a page shows what was evicted where it begins");
  if (!frames.empty())
    for (const Entry& entry : log(from))
      if (const auto* gap = std::get_if<GapSpan>(&entry))
        if (gap->last < frames.back()->position)
          gaps.push_back(*gap);
  must(page.gaps == gaps, "a page shows what is missing");
}

/// No loss is in the books only.
void ModelStored::must_show_all_gaps(const StoredStream& stream) const {
  std::uint64_t shown = stream.evicted() ? stream.evicted()->missing : 0;
  for (const GapSpan& gap : stream.gaps())
    shown += gap.count();
  must_equal(shown, ledger().interior_gaps(), "missing positions that a stream shows");
}

void ModelStored::must_look_so(const StoredStream& stream, const ModelCatalog& catalog,
                               Position from, std::uint32_t number) const {
  must_equal(stream.size(), frames_.size(), "frames stored");
  must_equal(stream.payload_bytes(), bytes_, "bytes stored");
  must_show_all_gaps(stream);
  must_log_so(stream, catalog, from);
  must_select_so(stream, number);
  must_measure_so(stream, {1 + number % 8});
  must_split_so(stream, {1 + number % 8}, from);
  must_report_so(stream, catalog);
}

void ModelStored::must_log_so(const StoredStream& stream, const ModelCatalog& catalog,
                              Position from) const {
  const std::vector<Entry> entries = log(from);
  const DatastreamSnapshot known = catalog.snapshot();
  const ChannelNames names(known, id_);
  const ChannelRegistry kinds = registry_of(known, id_);
  const auto raw = merged_log(stream, from);
  const auto named = merged_log_with_names(stream, std::cref(kinds), std::cref(names), from);
  auto at = raw.begin();
  auto named_at = named.begin();
  for (const Entry& entry : entries) {
    must(at != raw.end() && named_at != named.end(), "a log shows everything");
    const LogEntry seen = *at;
    const LogEntry named_seen = *named_at;
    if (const auto* frame = std::get_if<FramePtr>(&entry)) {
      const auto* shown = std::get_if<LogFrame>(&seen);
      const auto* named_shown = std::get_if<LogFrame>(&named_seen);
      must(shown && named_shown && same(shown->frame, *frame) && same(named_shown->frame, *frame),
           "a log shows frames in the order of their positions");
      const ChannelDescriptor* channel = catalog.channel(id_, (*frame)->channel);
      must_be_decoded(shown->body(), *(*frame)->payload, nullptr);
      must_equal(named_shown->frame.name, std::string_view(channel ? channel->name : ""),
                 "name of a logged frame");
      must_be_decoded(named_shown->body(), *(*frame)->payload, channel);
    } else if (const auto* gap = std::get_if<GapSpan>(&entry)) {
      must(is(seen, *gap) && is(named_seen, *gap), "a log shows what is missing");
    } else {
      const auto& evicted = std::get<EvictedRange>(entry);
      must(is(seen, evicted) && is(named_seen, evicted), "a log shows what was evicted");
    }
    ++at;
    ++named_at;
  }
  must(at == raw.end() && named_at == named.end(), "a log shows nothing else");
}

void ModelStored::must_select_so(const StoredStream& stream, std::uint32_t number) const {
  Frames all;
  for (const auto& [position, frame] : frames_)
    all.push_back(frame);
  const std::size_t count = std::min<std::size_t>(number % 40, all.size());
  must_show(tail(stream, number % 40), {all.end() - static_cast<std::ptrdiff_t>(count), all.end()},
            "a tail shows the last frames");

  const std::string_view needle = needles[number % std::size(needles)];
  Frames found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const FramePtr& frame) {
    return frame->payload->bytes.find(needle) != std::string::npos;
  });
  must_show(grep(stream, needle), found, "a search finds the frames that contain a text");

  const ChannelId channel{number % 8};
  Frames picked;
  std::ranges::copy_if(all, std::back_inserter(picked),
                       [&](const FramePtr& frame) { return frame->channel == channel; });
  must_show(filter(stream, [&](const FrameView& frame) { return frame.channel == channel; }),
            picked, "a filter shows what its predicate accepts");
  const auto last = latest(stream, channel);
  must(last.has_value() == !picked.empty() && (!last || same(*last, picked.back())),
       "the latest frame of a channel");
}

void ModelStored::must_measure_so(const StoredStream& stream, ChannelId channel) const {
  const auto must_be = [&](auto series, const auto& is_asked_for) {
    auto at = series.begin();
    for (const auto& [position, frame] : frames_) {
      // A health record is an object, too: one in which all fields of this record are missing.
      const auto load = frame->payload->health ? Load{} : frame->payload->load;
      if (!load || !is_asked_for(*frame))
        continue;
      must(at != series.end() && at->position == position && at->record == *load,
           "a series shows the records that decode");
      ++at;
    }
    must(at == series.end(), "a series shows nothing else");
  };
  must_be(metric_series_on<Load>(stream, channel),
          [&](const ModelFrame& frame) { return frame.channel == channel; });
  must_be(metric_series<Load>(stream), [](const ModelFrame&) { return true; });
}

void ModelStored::must_split_so(const StoredStream& stream, ChannelId channel,
                                Position from) const {
  std::vector<LineEntry> expected;
  std::optional<Line> open;
  const auto finish = [&](LineEnd end) {
    if (open && !open->text.empty()) {
      open->end = end;
      expected.emplace_back(*open);
    }
    open.reset();
  };
  for (const Entry& entry : log(from)) {
    if (const auto* gap = std::get_if<GapSpan>(&entry)) {
      finish(LineEnd::gap);
      expected.emplace_back(*gap);
    } else if (const auto* evicted = std::get_if<EvictedRange>(&entry)) {
      expected.emplace_back(*evicted);
    } else if (const FramePtr& frame = std::get<FramePtr>(entry); frame->channel == channel) {
      for (const char c : frame->payload->bytes) {
        if (!open)
          open = Line{frame->position, frame->position, {}, LineEnd::open};
        open->last = frame->position;
        if (c == '\n') {
          open->end = LineEnd::newline;
          expected.emplace_back(*open);
          open.reset();
        } else if (c != '\r') { // always in front of a newline
          open->text += c;
        }
      }
    }
  }
  finish(LineEnd::open);

  auto at = expected.begin();
  for (const LineEntry& entry : lines(stream, channel, {.bytes = std::size_t{1} << 30U}, from)) {
    must(at != expected.end() && entry == *at, "lines are those of the chunks, and end at gaps");
    ++at;
  }
  must(at == expected.end(), "all lines are shown");
}

void ModelStored::must_report_so(const StoredStream& stream, const ModelCatalog& catalog) const {
  std::optional<ChannelId> health;
  for (const ChannelDescriptor& channel : catalog.snapshot().channels)
    if (channel.stream == id_ && channel.name == health_channel)
      health = channel.id;
  const StreamReport report = stream_report(stream, health);
  must(report.ingest == ledger(), "a report carries the ledger");
  must(report.inconsistencies.empty(), "a stream that counts right is not contradicted");
  for (auto it = frames_.rbegin(); it != frames_.rend(); ++it) {
    const Payload& payload = *it->second->payload;
    if (health != it->second->channel || (!payload.health && !payload.json))
      continue;
    // An object without any figure is a record of a peer that has none to tell.
    ReportedPipe pipe{it->first, 0, {}, false};
    pipe.ledger.stream = id_;
    if (payload.health)
      pipe = {it->first, payload.health->refused.total(), *payload.health, true};
    must(report.reported == pipe, "a report shows the last health record as it was sent");
    return;
  }
  must(!report.reported, "a report shows only what was sent");
}

// --- the store

ModelStored& ModelStore::open(const StreamId& stream) {
  ModelStored& opened = streams_.try_emplace(stream, stream, retention_).first->second;
  if (const auto start = starts_.extract(stream))
    opened.expect_from(start.mapped());
  return opened;
}

void ModelStore::expect(const std::vector<StreamStart>& starts) {
  for (const StreamStart& start : starts) {
    if (const auto known = streams_.find(start.stream); known != streams_.end())
      known->second.expect_from(start.from);
    else
      starts_[start.stream] =
          std::min(start.from, starts_.try_emplace(start.stream, start.from).first->second);
  }
}

void ModelStore::begin(const SubscriptionStart& start) {
  catalog_.declare(start.snapshot);
  expect(start.starts);
}

void ModelStore::accept(const EventBatch& events, const Frames& frames, StoreAs form) {
  if (form == StoreAs::events || form == StoreAs::single_events)
    for (const Declaration& declaration : events.declarations)
      catalog_.declare(declaration);
  if (form == StoreAs::events)
    expect(events.starts);
  if (form == StoreAs::events || form == StoreAs::batch) {
    if (!frames.empty())
      open(frames.front()->stream).store(frames);
  } else {
    for (const FramePtr& frame : frames)
      open(frame->stream).store({frame});
  }
  if (form == StoreAs::events && events.ended)
    open(events.ended->stream).expect_until(events.ended->assigned);
}

void ModelStore::forget(System& system, std::uint32_t number) {
  if (streams_.empty())
    return;
  const auto chosen =
      std::next(streams_.begin(), static_cast<std::ptrdiff_t>(number % streams_.size()));
  const IngestLedger ledger = chosen->second.ledger();
  must(system.forget(chosen->first), "a stream that is stored can be forgotten");
  must(!system.forget(chosen->first), "nothing is forgotten twice");
  catalog_.forget(chosen->first);
  streams_.erase(chosen);
  ++forgotten_.streams;
  forgotten_.arrived += ledger.arrived;
  forgotten_.stored += ledger.stored;
  forgotten_.duplicates += ledger.duplicates;
  forgotten_.conflicts += ledger.conflicts;
  forgotten_.late_for_evicted += ledger.late_for_evicted;
  forgotten_.evicted += ledger.evicted;
  forgotten_.missing += ledger.missing();
}

std::vector<IngestLedger> ModelStore::ledgers() const {
  std::vector<IngestLedger> ledgers;
  for (const auto& [id, stream] : streams_)
    ledgers.push_back(stream.ledger());
  return ledgers;
}

void ModelStore::check(System& system) const {
  std::vector<StreamId> ids;
  for (const auto& [id, stream] : streams_) {
    ids.push_back(id);
    stream.must_balance();
    must(system.stored_ledger(id) == stream.ledger(), "ledger of a stored stream");
  }
  must(system.stored_streams() == ids, "streams that are stored, each life of its own");
  must(system.forgotten() == forgotten_, "sums over the streams that were forgotten");
}

void ModelStore::query(System& system, std::uint32_t number) const {
  must(system.stored_catalog() == catalog_.snapshot(), "catalog of the collector");
  if (streams_.empty())
    return;
  const auto& [id, stream] =
      *std::next(streams_.begin(), static_cast<std::ptrdiff_t>(number % streams_.size()));
  const IngestLedger ledger = stream.ledger();
  const std::uint64_t width = ledger.highest_stored ? ledger.highest_stored->value + 3 : 1;
  const Position from{number % 3 == 0 ? 0 : number % width};
  stream.must_page_so(system, from, 1 + number % 100);
  if (system.abilities().views)
    stream.must_look_so(*system.stored(id), catalog_, from, number);
}

} // namespace datastream::model_test
