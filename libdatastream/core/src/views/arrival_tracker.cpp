#include <datastream/views/arrival_tracker.hpp>

#include <algorithm>
#include <array>

namespace datastream {
namespace {

Liveness liveness_of(std::optional<ArrivalTracker::Time> last, bool ended, ArrivalTracker::Time now,
                     ArrivalTracker::Clock::duration silent_after) {
  if (ended)
    return Liveness::ended;
  return now - *last <= silent_after ? Liveness::live : Liveness::silent;
}

} // namespace

std::string_view to_string(Liveness liveness) {
  switch (liveness) {
  case Liveness::live:
    return "live";
  case Liveness::silent:
    return "silent";
  case Liveness::ended:
    return "ended";
  }
  return "unknown";
}

void ArrivalTracker::note(const EventBatch& events, Time now) {
  note(events.frames, now);
  if (events.ended)
    note_end(events.ended->stream);
}

void ArrivalTracker::note(const FrameBatch& frames, Time now) {
  if (frames.empty())
    return;
  Stream& stream = streams_[frames.stream()];
  // Batches have few channels: the one noted last in each place needs no look-up again.
  std::array<std::optional<ChannelId>, 64> noted{};
  for (const FrameHeader& header : frames.headers())
    if (auto& last = noted[header.channel.value % noted.size()]; last != header.channel) {
      last = header.channel;
      note(stream, header.channel, now);
    }
}

void ArrivalTracker::note(const ChannelRef& channel, Time now) {
  note(streams_[channel.stream], channel.channel, now);
}

void ArrivalTracker::note_end(const StreamId& stream) {
  streams_[stream].ended = true;
}

void ArrivalTracker::forget(const StreamId& stream) {
  streams_.erase(stream);
}

std::optional<ArrivalTracker::Time> ArrivalTracker::last_arrival(const StreamId& stream) const {
  const Stream* found = find(stream);
  return found ? found->last : std::nullopt;
}

std::optional<ArrivalTracker::Time> ArrivalTracker::last_arrival(const ChannelRef& channel) const {
  const Stream* stream = find(channel.stream);
  if (!stream)
    return std::nullopt;
  const auto found = stream->channels.find(channel.channel);
  return found == stream->channels.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Liveness> ArrivalTracker::liveness(const StreamId& stream, Time now,
                                                 Clock::duration silent_after) const {
  const Stream* found = find(stream);
  if (!found)
    return std::nullopt;
  return liveness_of(found->last, found->ended, now, silent_after);
}

std::optional<Liveness> ArrivalTracker::liveness(const ChannelRef& channel, Time now,
                                                 Clock::duration silent_after) const {
  const auto last = last_arrival(channel);
  if (!last)
    return std::nullopt;
  return liveness_of(last, find(channel.stream)->ended, now, silent_after);
}

void ArrivalTracker::note(Stream& stream, ChannelId channel, Time now) {
  stream.last = std::max(stream.last.value_or(now), now);
  if (const auto known = stream.channels.find(channel); known != stream.channels.end())
    known->second = std::max(known->second, now);
  else if (stream.channels.size() < defaults::tracked_channels)
    stream.channels.emplace(channel, now);
}

const ArrivalTracker::Stream* ArrivalTracker::find(const StreamId& stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &found->second;
}

} // namespace datastream
