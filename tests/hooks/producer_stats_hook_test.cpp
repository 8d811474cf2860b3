#include <datastream/hooks/producer_stats_hook.hpp>
#include <datastream/pipe/endpoint.hpp>
#include <datastream/record.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace datastream;

namespace {

const StreamId stream{"node-a", {7}};

ActorSnapshot example() {
  return {"a1", "counter", 2, "get", 9, false, {}, {{"get", 6}, {"put", 3}}};
}

struct Drained {
  ChannelId channel;
  std::string payload;
};
std::vector<Drained> drain(DatastreamEndpoint& endpoint) {
  std::vector<FrameBatch> batches;
  endpoint.drain_directly(batches);
  std::vector<Drained> frames;
  for (const FrameBatch& batch : batches)
    for (const FrameView& frame : batch)
      frames.push_back({frame.channel, std::string(frame.payload)});
  return frames;
}

} // namespace

TEST_CASE("stats_hook_adapter_submits_worker_snapshot_json") {
  DatastreamEndpoint endpoint(stream);
  ProducerStatsHook hook(endpoint.producer());
  const std::vector<ActorSnapshot> snapshots = {example(), {"b2", "", 0, {}, 1, true, "bad", {}}};
  hook.on_tick(3, snapshots, 5);

  CHECK(endpoint.producer().find_channel("runtime.actors") == hook.channel());
  const auto frames = drain(endpoint);
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].channel == hook.channel());
  CHECK(decode_record<ActorsRecord>(frames[0].payload) == ActorsRecord{3, snapshots, 5});
  CHECK(hook.refused() == 0);
}

TEST_CASE("the_channel_of_actors_has_its_name_as_schema") {
  DatastreamEndpoint endpoint(stream);
  const ProducerStatsHook hook(endpoint.producer());
  CHECK(endpoint.register_channel("runtime.actors", JsonRecord{"runtime.actors"}) ==
        hook.channel());
}

TEST_CASE("each_report_of_actors_is_one_frame_and_an_empty_one_is_none") {
  DatastreamEndpoint endpoint(stream);
  ProducerStatsHook hook(endpoint.producer());
  hook.on_tick(0, {}, 0);
  hook.on_tick(0, {}, 4);
  CHECK(drain(endpoint).empty());
  const std::vector<ActorSnapshot> two = {example(), example()};
  hook.on_tick(0, two, 0);
  hook.on_tick(1, std::span(two).first(1), 0);
  const auto frames = drain(endpoint);
  REQUIRE(frames.size() == 2);
  CHECK(decode_record<ActorsRecord>(frames[0].payload)->actors.size() == 2);
  CHECK(decode_record<ActorsRecord>(frames[1].payload)->actors.size() == 1);
}

TEST_CASE("actors_can_be_reported_on_another_channel") {
  DatastreamEndpoint endpoint(stream);
  const ChannelId channel = endpoint.register_channel("my.actors", JsonRecord{});
  ProducerStatsHook hook(endpoint.producer(), channel);
  hook.on_tick(0, std::vector{example()}, 0);
  const auto frames = drain(endpoint);
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].channel == channel);
  CHECK_FALSE(endpoint.producer().find_channel("runtime.actors"));
}

TEST_CASE("a_channel_of_actors_with_other_content_is_refused_loudly") {
  DatastreamEndpoint endpoint(stream);
  endpoint.register_channel("runtime.actors", TextStream{});
  CHECK_THROWS_AS(ProducerStatsHook(endpoint.producer()), std::logic_error);
}

TEST_CASE("reports_of_actors_that_the_mux_refuses_are_counted") {
  DatastreamEndpoint endpoint(stream, {.mux = {.frames = 1}});
  ProducerStatsHook hook(endpoint.producer());
  const std::vector snapshots{example()};
  hook.on_tick(0, snapshots, 0);
  hook.on_tick(0, snapshots, 0);
  CHECK(hook.refused() == 1);
  CHECK(endpoint.ledger().refused.mux_frames_full == 1);
  endpoint.end_stream();
  hook.on_tick(0, snapshots, 0);
  CHECK(hook.refused() == 2);
}

TEST_CASE("names_of_actors_that_are_no_text_are_reported_with_replacements") {
  DatastreamEndpoint endpoint(stream);
  ProducerStatsHook hook(endpoint.producer());
  hook.on_tick(0, std::vector<ActorSnapshot>{{"a\xff", "\xC3\n", 0, {}, 0, false, {}, {}}}, 0);
  const auto record = decode_record<ActorsRecord>(drain(endpoint).at(0).payload);
  REQUIRE(record);
  CHECK(record->actors[0].address == "a\xEF\xBF\xBD");
  CHECK(record->actors[0].name == "\xEF\xBF\xBD\n");
}

TEST_CASE("all_workers_may_report_actors_at_once") {
  DatastreamEndpoint endpoint(stream);
  ProducerStatsHook hook(endpoint.producer());
  constexpr int reports = 200;
  {
    std::vector<std::jthread> workers;
    for (std::size_t worker = 0; worker < 4; ++worker)
      workers.emplace_back([&hook, worker] {
        const std::vector snapshots(worker + 1, example());
        for (int i = 0; i < reports; ++i)
          hook.on_tick(worker, snapshots, 0);
      });
  }
  std::vector<int> seen(4);
  for (const Drained& frame : drain(endpoint)) {
    const auto record = decode_record<ActorsRecord>(frame.payload);
    REQUIRE(record);
    REQUIRE(record->actors.size() == record->worker_id + 1);
    ++seen[record->worker_id];
  }
  CHECK(seen == std::vector<int>(4, reports));
}
