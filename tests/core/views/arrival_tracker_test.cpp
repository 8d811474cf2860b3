#include <datastream/pipe/endpoint.hpp>
#include <datastream/views/arrival_tracker.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <vector>

using namespace datastream;
using namespace std::chrono_literals;

namespace {

using Time = ArrivalTracker::Time;

const StreamId stream{"node-a", {7}};
const StreamId another{"node-b", {7}};
constexpr auto limit = 10s;

Time at(std::chrono::milliseconds time) {
  return Time(time);
}

FrameBatch batch(const std::vector<ChannelId>& channels) {
  std::vector<Frame> frames;
  for (const ChannelId channel : channels)
    frames.push_back({channel, {frames.size()}, "x"});
  return FrameBatch::copy_of(stream, frames);
}

} // namespace

TEST_CASE("what_arrived_not_long_ago_is_live_and_later_silent") {
  ArrivalTracker tracker;
  tracker.note(batch({{1}}), at(5s));
  CHECK(tracker.liveness(stream, at(5s), limit) == Liveness::live);
  CHECK(tracker.liveness(stream, at(15s), limit) == Liveness::live);
  CHECK(tracker.liveness(stream, at(15001ms), limit) == Liveness::silent);
  CHECK(tracker.last_arrival(stream) == at(5s));
  tracker.note(batch({{1}}), at(20s));
  CHECK(tracker.liveness(stream, at(21s), limit) == Liveness::live);
}

TEST_CASE("nothing_is_known_of_what_never_arrived") {
  ArrivalTracker tracker;
  CHECK_FALSE(tracker.liveness(stream, at(0s), limit));
  tracker.note(FrameBatch(), at(0s));
  tracker.note(ChannelRef{stream, {1}}, at(0s));
  CHECK_FALSE(tracker.liveness(ChannelRef{stream, {2}}, at(0s), limit));
  CHECK_FALSE(tracker.liveness(another, at(0s), limit));
  CHECK_FALSE(tracker.last_arrival(ChannelRef{another, {1}}));
  CHECK_FALSE(tracker.last_arrival(another));
}

TEST_CASE("a_channel_can_be_silent_while_its_stream_lives") {
  ArrivalTracker tracker;
  tracker.note(batch({{1}, {2}}), at(0s));
  tracker.note(batch({{2}}), at(20s));
  CHECK(tracker.liveness(ChannelRef{stream, {1}}, at(20s), limit) == Liveness::silent);
  CHECK(tracker.liveness(ChannelRef{stream, {2}}, at(20s), limit) == Liveness::live);
  CHECK(tracker.liveness(stream, at(20s), limit) == Liveness::live);
}

TEST_CASE("every_channel_of_a_batch_is_noted_however_they_are_mixed") {
  ArrivalTracker tracker;
  std::vector<ChannelId> channels;
  for (std::uint32_t i = 0; i < 200; ++i)
    channels.push_back({i % 50});
  tracker.note(batch(channels), at(1s));
  for (std::uint32_t i = 0; i < 50; ++i)
    CHECK(tracker.last_arrival(ChannelRef{stream, {i}}) == at(1s));
}

TEST_CASE("an_end_is_final_for_the_stream_and_its_channels") {
  ArrivalTracker tracker;
  tracker.note(batch({{1}}), at(0s));
  tracker.note_end(stream);
  tracker.note(batch({{1}}), at(1s));
  CHECK(tracker.liveness(stream, at(1s), limit) == Liveness::ended);
  CHECK(tracker.liveness(ChannelRef{stream, {1}}, at(1s), limit) == Liveness::ended);
  tracker.note_end(another);
  CHECK(tracker.liveness(another, at(1s), limit) == Liveness::ended);
  CHECK_FALSE(tracker.last_arrival(another));
}

TEST_CASE("a_clock_that_was_read_earlier_does_not_make_an_arrival_older") {
  ArrivalTracker tracker;
  tracker.note(batch({{1}}), at(9s));
  tracker.note(batch({{1}}), at(8s));
  CHECK(tracker.last_arrival(stream) == at(9s));
  CHECK(tracker.last_arrival(ChannelRef{stream, {1}}) == at(9s));
  CHECK(tracker.liveness(stream, at(8s), limit) == Liveness::live);
}

TEST_CASE("a_stream_that_is_forgotten_was_never_heard_of") {
  ArrivalTracker tracker;
  tracker.note(batch({{1}}), at(0s));
  tracker.note_end(stream);
  tracker.forget(stream);
  CHECK_FALSE(tracker.liveness(stream, at(0s), limit));
}

TEST_CASE("channels_beyond_the_bound_count_for_their_stream_only") {
  ArrivalTracker tracker;
  const auto most = static_cast<std::uint32_t>(defaults::tracked_channels);
  for (std::uint32_t i = 0; i < most; ++i)
    tracker.note(ChannelRef{stream, {i}}, at(1s));
  tracker.note(ChannelRef{stream, {most}}, at(2s));
  tracker.note(ChannelRef{stream, {0}}, at(3s));
  CHECK(tracker.last_arrival(ChannelRef{stream, {most - 1}}) == at(1s));
  CHECK_FALSE(tracker.last_arrival(ChannelRef{stream, {most}}));
  CHECK(tracker.last_arrival(ChannelRef{stream, {0}}) == at(3s));
  CHECK(tracker.last_arrival(stream) == at(3s));
}

TEST_CASE("a_subscription_tells_a_tracker_of_frames_and_of_the_end") {
  DatastreamEndpoint endpoint(stream);
  auto subscription = endpoint.subscribe("reader");
  const auto producer = endpoint.producer();
  const ChannelId channel = producer.register_channel("log", TextStream{});
  producer.submit_text(channel, "x");
  endpoint.tick();
  ArrivalTracker tracker;
  const auto note_all = [&](Time now) {
    while (const auto events = subscription.try_recv())
      tracker.note(*events, now);
  };
  note_all(at(1s));
  CHECK(tracker.liveness(ChannelRef{stream, channel}, at(2s), limit) == Liveness::live);
  endpoint.end_stream();
  note_all(at(3s));
  CHECK(tracker.liveness(stream, at(3s), limit) == Liveness::ended);
}

TEST_CASE("every_liveness_has_a_name") {
  CHECK(to_string(Liveness::live) == "live");
  CHECK(to_string(Liveness::silent) == "silent");
  CHECK(to_string(Liveness::ended) == "ended");
}
