#include "model_fanout.hpp"

#include "must.hpp"

#include <algorithm>

namespace datastream::model_test {
namespace {

bool accepts(const SourceFilter& filter, const StreamDescriptor& stream) {
  if (const auto* origin = std::get_if<source_filter::Origin>(&filter))
    return origin->origin == stream.origin;
  if (const auto* node = std::get_if<source_filter::Node>(&filter))
    return node->node == stream.stream.node;
  if (const auto* one = std::get_if<source_filter::Stream>(&filter))
    return one->stream == stream.stream;
  return true;
}

bool accepts(const ChannelFilter& filter, const ChannelDescriptor& channel) {
  if (const auto* name = std::get_if<channel_filter::Name>(&filter))
    return name->name == channel.name;
  if (const auto* prefix = std::get_if<channel_filter::Prefix>(&filter))
    return channel.name.compare(0, prefix->prefix.size(), prefix->prefix) == 0;
  if (const auto* content = std::get_if<channel_filter::Content>(&filter))
    return static_cast<std::size_t>(content->kind) == channel.content.index();
  return true;
}

} // namespace

bool ModelCatalog::declare(const StreamDescriptor& stream) {
  if (!streams_.emplace(stream.stream, stream).second)
    return false;
  log_.emplace_back(stream);
  return true;
}

bool ModelCatalog::declare(const ChannelDescriptor& channel) {
  declare(StreamDescriptor{channel.stream, std::nullopt, StreamOrigin::RemoteNode});
  if (!channels_.emplace(ChannelRef{channel.stream, channel.id}, log_.size()).second)
    return false;
  log_.emplace_back(channel);
  return true;
}

void ModelCatalog::declare(const Entry& entry) {
  std::visit([this](const auto& descriptor) { declare(descriptor); }, entry);
}

void ModelCatalog::declare(const DatastreamSnapshot& snapshot) {
  for (const StreamDescriptor& stream : snapshot.streams)
    declare(stream);
  for (const ChannelDescriptor& channel : snapshot.channels)
    declare(channel);
}

void ModelCatalog::declare(const Declaration& declaration) {
  std::visit([this](const auto& descriptor) { declare(*descriptor); }, declaration);
}

void ModelCatalog::forget(const StreamId& stream) {
  ModelCatalog rest;
  for (const Entry& entry : log_)
    if (std::visit([](const auto& descriptor) { return descriptor.stream; }, entry) != stream)
      rest.declare(entry);
  *this = std::move(rest);
}

std::optional<std::size_t> ModelCatalog::find(const StreamId& stream, ChannelId channel) const {
  const auto it = channels_.find(ChannelRef{stream, channel});
  return it == channels_.end() ? std::nullopt : std::optional(it->second);
}

const ChannelDescriptor* ModelCatalog::channel(const StreamId& stream, ChannelId channel) const {
  const auto index = find(stream, channel);
  return index ? &std::get<ChannelDescriptor>(log_[*index]) : nullptr;
}

bool ModelCatalog::shows(const SubscriptionRequest& request, std::size_t index) const {
  const auto& channel = std::get<ChannelDescriptor>(log_[index]);
  return accepts(request.sources, streams_.at(channel.stream)) &&
         accepts(request.channels, channel);
}

DatastreamSnapshot ModelCatalog::snapshot(const SubscriptionRequest& request) const {
  DatastreamSnapshot snapshot;
  std::set<StreamId> with_channels;
  for (const auto& [ref, index] : channels_)
    if (shows(request, index)) {
      snapshot.channels.push_back(std::get<ChannelDescriptor>(log_[index]));
      with_channels.insert(ref.stream);
    }
  for (const auto& [id, stream] : streams_)
    if (accepts(request.sources, stream) &&
        (std::holds_alternative<channel_filter::All>(request.channels) ||
         with_channels.contains(id)))
      snapshot.streams.push_back(stream);
  return snapshot;
}

// --- a reader

void ModelReader::begin(const ModelCatalog& catalog, std::map<StreamId, std::uint64_t> ended) {
  snapshot_version_ = told_version_ = catalog.version();
  ends_due_ = std::move(ended);
}

void ModelReader::drop(const FramePtr& frame) {
  ++counts.dropped;
  if (!first_dropped_) {
    first_dropped_ = frame;
    first_of_runs_.push_back(frame);
  }
}

void ModelReader::offer(const Frames& frames) {
  counts.offered += frames.size();
  for (const FramePtr& frame : frames) {
    if (byte_bound()) {
      offered_.push_back(frame);
    } else if (counts.outstanding < capacity.frames) {
      expected_.push_back({frame, counts.dropped});
      ++counts.outstanding;
    } else {
      ++counts.dropped;
    }
  }
}

/// The frame that must come next.
FramePtr ModelReader::next_frame(const FrameView& frame, const EventBatch& delivery) {
  while (byte_bound() && !offered_.empty()) {
    const FramePtr offered = offered_.front();
    offered_.pop_front();
    if (offered->position == frame.position && offered->stream == delivery.frames.stream()) {
      ++counts.outstanding;
      first_dropped_ = nullptr;
      // One delivery is a run without holes, so what was lost was lost before it.
      must(counts.dropped == delivery.dropped, "a delivery says how many copies were lost before");
      return offered;
    }
    drop(offered);
  }
  must(!expected_.empty(), "no frame is delivered that this reader had no room for, or had before");
  const Expected expected = std::move(expected_.front());
  expected_.pop_front();
  must_equal(delivery.dropped, expected.dropped, "copies lost before a delivery");
  return expected.frame;
}

void ModelReader::check_names(const ModelCatalog& catalog, const EventBatch& delivery) const {
  delivery.each([&](const FrameView& frame) {
    const auto index = catalog.find(delivery.frames.stream(), frame.channel);
    std::string_view declared;
    if (index && *index < told_version_ &&
        (*index >= snapshot_version_ || catalog.shows(request, *index)))
      declared = std::get<ChannelDescriptor>(catalog.at(*index)).name;
    must_equal(frame.name, declared, "name of a delivered frame");
  });
}

Frames ModelReader::take(const ModelCatalog& catalog, const EventBatch& delivery) {
  must_equal(delivery.subscription, id, "subscription of a delivery");
  must_equal(delivery.malformed, 0U, "malformed frames");
  if (!pulled)
    must_equal(delivery.sequence, ++sequence, "number of a delivery");
  for (const Declaration& declaration : delivery.declarations) {
    must(told_version_ < catalog.version(), "nothing is declared that the catalog does not know");
    const auto entry =
        std::visit([](const auto& told) { return ModelCatalog::Entry(*told); }, declaration);
    must(entry == catalog.at(told_version_), "each declaration comes once and in order");
    ++told_version_;
  }
  must(delivery.frames.empty() || told_version_ == catalog.version(),
       "everything is declared before frames that come after it");
  for (const StreamStart& start : delivery.starts) {
    must(!starts_due_.empty() && starts_due_.front() == start, "each start is told once");
    starts_due_.pop_front();
  }
  must(delivery.dropped >= told_dropped_, "the count of lost copies never falls");
  if (delivery.frames.empty()) // tells what was lost before it
    while (counts.dropped < delivery.dropped && !offered_.empty()) {
      drop(offered_.front());
      offered_.pop_front();
    }

  Frames frames;
  for (const FrameView& frame : delivery.frames) {
    const FramePtr expected = next_frame(frame, delivery);
    must_equal(delivery.frames.stream(), expected->stream, "stream of a delivered frame");
    must_equal(frame.position, expected->position, "position of a delivered frame");
    must_equal(frame.channel, expected->channel, "channel of a delivered frame");
    must(frame.payload == expected->payload->bytes, "payloads arrive as they were submitted");
    const auto is_of = [&](const StreamStart& start) { return start.stream == expected->stream; };
    must(std::ranges::none_of(starts_due_, is_of), "a start comes before the stream's frames");
    must(!ends_told_.contains(expected->stream), "nothing of a stream comes after its end");
    frames.push_back(expected);
  }
  check_names(catalog, delivery);
  must(delivery.dropped <= counts.dropped, "no more copies are said to be lost than were");

  if (delivery.ended) {
    const auto due = ends_due_.find(delivery.ended->stream);
    must(due != ends_due_.end(), "a stream's end is told once, and when it has ended");
    must_equal(delivery.ended->assigned, due->second, "positions of an ended stream");
    must(std::ranges::none_of(expected_,
                              [&](const Expected& e) { return e.frame->stream == due->first; }),
         "the end of a stream comes after its frames");
    ends_told_.insert(due->first);
    ends_due_.erase(due);
  }
  must(!delivery.declarations.empty() || !delivery.starts.empty() || !frames.empty() ||
           delivery.ended || delivery.dropped != told_dropped_,
       "no delivery is empty");
  told_dropped_ = delivery.dropped;
  return frames;
}

void ModelReader::settle() {
  for (const FramePtr& frame : offered_)
    drop(frame);
  offered_.clear();
  first_dropped_ = nullptr;

  std::size_t frames = 0;
  std::size_t bytes = 0;
  std::size_t notices = 0;
  for (const EventBatch& delivery : held) {
    frames += delivery.frames.size();
    bytes += delivery.frames.pinned_bytes();
    notices += delivery.frames.empty() && !delivery.ended ? 1 : 0;
  }
  must(frames <= capacity.frames, "no reader holds more frames than its capacity");
  must(bytes <= capacity.bytes, "no reader holds more bytes than its capacity");
  must(pulled || notices <= 1, "at most one delivery without frames is under way");
  must(expected_.empty(), "what a reader has room for it is sent at once");
  // Had there been room for it, the first one of a run would not have been dropped.
  for (const FramePtr& dropped : first_of_runs_)
    must(frames == capacity.frames || bytes + dropped->payload->bytes.size() > capacity.bytes,
         "nothing is dropped that there is room for");
  first_of_runs_.clear();
  must_equal(counts.outstanding, pulled ? 0 : frames, "unacknowledged frames");
  if (pulled)
    held.clear();
}

void ModelReader::acknowledged(std::size_t frames) {
  counts.outstanding -= frames;
  counts.acknowledged += frames;
}

void ModelReader::must_know_everything(const ModelCatalog& catalog) const {
  must_equal(counts.outstanding, 0U, "outstanding at a reader that has read all");
  must_equal(told_version_, catalog.version(), "declarations told");
  must_equal(told_dropped_, counts.dropped, "lost copies told");
  must(expected_.empty() && starts_due_.empty() && ends_due_.empty(), "everything due is told");
}

// --- the fanout

ModelFanout::Stream& ModelFanout::stream(const StreamId& id, Position first) {
  const auto [it, fresh] = streams_.try_emplace(id, Stream{first.value, std::nullopt});
  if (fresh) {
    catalog.declare(StreamDescriptor{id, std::nullopt, StreamOrigin::RemoteNode});
    for (ModelReader& reader : readers)
      reader.stream_started({id, first});
  }
  return it->second;
}

void ModelFanout::must_begin_so(const SubscriptionStart& start,
                                const SubscriptionRequest& request) const {
  must(start.snapshot == catalog.snapshot(request), "a snapshot is the catalog as requested");
  std::vector<StreamStart> starts;
  for (const auto& [id, stream] : streams_)
    starts.push_back({id, {stream.next}});
  must(start.starts == starts, "a subscription begins at the next position of every stream");
  must(readers.empty() || start.id > readers.back().id, "subscriptions are numbered upwards");
}

void ModelFanout::add(ModelReader reader) {
  std::map<StreamId, std::uint64_t> ended;
  for (const auto& [id, stream] : streams_)
    if (stream.ended)
      ended.emplace(id, *stream.ended);
  reader.begin(catalog, std::move(ended));
  readers.push_back(std::move(reader));
}

bool ModelFanout::publish(const Frames& frames) {
  if (frames.empty())
    return true;
  Stream& known = stream(frames.front()->stream, frames.front()->position);
  if (known.ended) {
    after_end += frames.size();
    return false;
  }
  known.next = std::max(known.next, frames.back()->position.value + 1);
  for (ModelReader& reader : readers)
    reader.offer(frames);
  return true;
}

void ModelFanout::expect_next(const StreamStart& start) {
  Stream& known = stream(start.stream, start.from);
  known.next = std::max(known.next, start.from.value);
}

void ModelFanout::end_stream(const StreamEnd& end) {
  Stream& ending = stream(end.stream, {end.assigned});
  if (ending.ended)
    return;
  ending.next = std::max(ending.next, end.assigned);
  ending.ended = end.assigned;
  for (ModelReader& reader : readers)
    reader.stream_ended(end);
}

void ModelFanout::remove(std::size_t index) {
  SubscriberCounts& counts = readers[index].counts;
  counts.abandoned = std::exchange(counts.outstanding, 0);
  departed += counts;
  readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(index));
}

FanoutLedger ModelFanout::ledger() const {
  FanoutLedger ledger;
  for (const ModelReader& reader : readers)
    ledger.subscribers.push_back({reader.id, reader.name, reader.counts});
  ledger.departed = departed;
  ledger.stray_acknowledgements = strays;
  ledger.frames_after_end = after_end;
  return ledger;
}

SubscriberCounts ModelFanout::total() const {
  SubscriberCounts sum = departed;
  for (const ModelReader& reader : readers)
    sum += reader.counts;
  return sum;
}

} // namespace datastream::model_test
