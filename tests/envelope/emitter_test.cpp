/// The older emitter: a mux, a sink, and handles that may outlive both.

#include <datastream/envelope/emitter.hpp>
#include <datastream/record.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace datastream;

namespace {

/// Keeps what is shipped.
class KeepingSink final : public FrameSink {
public:
  void ship(const StreamId& stream, const FrameView& frame) override {
    shipped.push_back({stream, frame.to_frame()});
  }
  std::vector<Delivery> shipped;
};

struct Reading {
  static constexpr const char* CHANNEL = "emitter.reading";
  std::uint32_t celsius = 0;
};
DATASTREAM_RECORD(Reading, celsius)

const StreamId stream{"node-a", {7}};

} // namespace

TEST_CASE("an_emitter_ships_everything_that_was_submitted_in_its_order_at_the_tick") {
  const auto sink = std::make_shared<KeepingSink>();
  DatastreamEmitter emitter{{.node = "node-a", .life = {7}}, sink};
  CHECK(emitter.stream_id() == stream);
  CHECK(emitter.submit_text({1}, "text"));
  CHECK(emitter.submit_record({2}, Reading{21}));
  CHECK(emitter.submit_bytes({3}, std::string_view("\0\xff", 2)));
  const std::string large(100'000, 'l');
  CHECK(emitter.submit_text_owned({1}, large));
  CHECK(emitter.assigned() == 0); // positions are given while draining
  CHECK(sink->shipped.empty());

  CHECK(emitter.tick() == 4);
  CHECK(sink->shipped == std::vector<Delivery>{{stream, {{1}, {0}, "text"}},
                                               {stream, {{2}, {1}, R"({"celsius":21})"}},
                                               {stream, {{3}, {2}, std::string("\0\xff", 2)}},
                                               {stream, {{1}, {3}, large}}});
  CHECK(emitter.assigned() == 4);
  CHECK(emitter.dropped() == 0);
  CHECK(emitter.tick() == 0);
  CHECK(sink->shipped.size() == 4);
}

TEST_CASE("a_full_emitter_refuses_and_counts_before_a_position_is_taken") {
  const auto sink = std::make_shared<KeepingSink>();
  DatastreamEmitter emitter{{.node = "node-a", .life = {7}, .mux = {.frames = 2}}, sink};
  CHECK(emitter.submit_text({1}, "a"));
  CHECK(emitter.submit_text({1}, "b"));
  CHECK(!emitter.submit_text({1}, "refused"));
  CHECK(!emitter.submit_record({1}, Reading{}));
  CHECK(emitter.dropped() == 2);
  CHECK(emitter.tick() == 2);
  CHECK(emitter.submit_text({1}, "c"));
  CHECK(emitter.tick() == 1);
  CHECK(sink->shipped.back() == Delivery{stream, {{1}, {2}, "c"}});
  CHECK(emitter.assigned() == 3);
}

TEST_CASE("an_emitter_that_ends_ships_what_was_accepted_and_refuses_the_rest") {
  const auto sink = std::make_shared<KeepingSink>();
  DatastreamEmitter emitter{{.node = "node-a", .life = {7}}, sink};
  CHECK(emitter.submit_text({1}, "accepted"));
  emitter.end_stream();
  CHECK(sink->shipped == std::vector<Delivery>{{stream, {{1}, {0}, "accepted"}}});
  CHECK(!emitter.submit_text({1}, "refused"));
  CHECK(emitter.dropped() == 1);
  emitter.end_stream();
  CHECK(emitter.tick() == 0);
  CHECK(sink->shipped.size() == 1);
}

TEST_CASE("an_event_sink_submits_to_its_emitter_and_is_refused_once_that_is_gone") {
  const auto sink = std::make_shared<KeepingSink>();
  auto emitter =
      std::make_optional<DatastreamEmitter>(EmitterConfig{.node = "node-a", .life = {7}}, sink);
  const DatastreamEventSink events = emitter->event_sink();
  const DatastreamEventSink copy = events;
  CHECK(events.submit_text({1}, "a"));
  CHECK(copy.submit_bytes({1}, "b"));
  CHECK(copy.submit_record({1}, Reading{3}));
  CHECK(events.submit_text_owned({1}, "c"));
  emitter.reset(); // ships what was accepted
  REQUIRE(sink->shipped.size() == 4);
  CHECK(sink->shipped[2].frame.payload == R"({"celsius":3})");

  CHECK(!events.submit_text({1}, "late"));
  CHECK(!events.submit_bytes({1}, "late"));
  CHECK(!events.submit_record({1}, Reading{}));
  CHECK(!copy.submit_text_owned({1}, "late"));
  CHECK(events.dropped() == 4);
  CHECK(events.stream_id() == stream);
  CHECK(sink->shipped.size() == 4);
}

TEST_CASE("an_emitter_ships_or_counts_every_frame_of_concurrent_handles_while_it_ends") {
  const auto sink = std::make_shared<KeepingSink>();
  DatastreamEmitter emitter{{.node = "node-a", .life = {7}, .mux = {.frames = 64}}, sink};
  constexpr std::uint64_t producers = 4;
  constexpr std::uint64_t each = 5000;
  std::vector<std::uint64_t> accepted(producers, 0);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t p = 0; p < producers; ++p)
      threads.emplace_back([events = emitter.event_sink(), &mine = accepted[p], p] {
        for (std::uint64_t n = 0; n < each; ++n)
          mine += events.submit_text({p + 1}, "payload") ? 1 : 0;
      });
    while (emitter.assigned() + emitter.dropped() < producers * each / 2)
      emitter.tick();
    emitter.end_stream();
  }
  std::uint64_t total = 0;
  for (const std::uint64_t count : accepted)
    total += count;
  CHECK(sink->shipped.size() == total);
  CHECK(emitter.assigned() == total);
  CHECK(total + emitter.dropped() == producers * each);
  for (std::size_t i = 0; i < sink->shipped.size(); ++i)
    CHECK(sink->shipped[i].frame.position == Position{i});
}

TEST_CASE("an_emitter_into_nothing_still_numbers_its_frames") {
  DatastreamEmitter emitter{{.node = "node-a"}, std::make_shared<NoopSink>()};
  CHECK(emitter.submit_text({1}, "a"));
  CHECK(emitter.tick() == 1);
  CHECK(emitter.assigned() == 1);
}
