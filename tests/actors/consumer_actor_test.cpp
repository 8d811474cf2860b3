#include "middleman_test.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/caf/handlers.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

constexpr auto manual = EndpointOptions::manual;

std::expected<SubscriptionStart, caf::error> follow(TestSystem& test, const caf::actor& consumer,
                                                    const EndpointRef& node) {
  return ask<SubscriptionStart>(test.system, consumer, follow_atom_v, node.actor());
}

std::expected<FramePage, caf::error> page(TestSystem& test, const caf::actor& consumer,
                                          const StreamId& stream, Position from,
                                          std::uint32_t at_most) {
  return ask<FramePage>(test.system, consumer, page_atom_v, stream, from, at_most);
}

std::uint64_t stored(TestSystem& test, const caf::actor& consumer, const StreamId& stream) {
  const auto ledger = ask<IngestLedger>(test.system, consumer, ledger_atom_v, stream);
  return ledger ? ledger->stored : 0;
}

} // namespace

TEST_CASE("a_consumer_follows_stores_and_answers") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto consumer = spawn_consumer(test.system);
  const auto start = follow(test, consumer, node.ref());
  REQUIRE(start);
  CHECK(start->starts.size() == 1);
  const auto out = node.producer();
  const auto log = out.register_channel("a.log", TextStream{});
  for (int i = 0; i < 1000; ++i)
    REQUIRE(out.submit_text(log, std::to_string(i)));
  CHECK(node.close());
  const auto ledger = ask<IngestLedger>(test.system, consumer, ledger_atom_v, node.stream_id());
  REQUIRE(ledger);
  CHECK(ledger->arrived == 1000);
  CHECK(ledger->stored == 1000);
  CHECK(ledger->from == Position{0});
  CHECK(ledger->assigned == 1000);
  CHECK(ledger->missing() == 0);
  CHECK(ledger->balanced());
  CHECK(ask<std::vector<StreamId>>(test.system, consumer, streams_atom_v).value() ==
        std::vector{node.stream_id()});
  const auto snapshot =
      ask<DatastreamSnapshot>(test.system, consumer, snapshot_atom_v, SubscriptionRequest::all());
  REQUIRE(snapshot);
  REQUIRE(snapshot->channels.size() == 1);
  CHECK(snapshot->channels[0].name == "a.log");
  stop(consumer);
}

TEST_CASE("a_consumer_says_what_it_does_not_know_and_whom_it_cannot_follow") {
  TestSystem test;
  const auto consumer = spawn_consumer(test.system);
  const StreamId stranger{"x", {1}};
  CHECK_FALSE(page(test, consumer, stranger, {}, 10));
  CHECK_FALSE(ask<IngestLedger>(test.system, consumer, ledger_atom_v, stranger));
  EndpointRef dead;
  {
    Endpoint node{test.system, {.node = "n"}};
    dead = node.ref();
  }
  CHECK_FALSE(follow(test, consumer, dead));
  CHECK_FALSE(follow(test, consumer, EndpointRef{}));
  CHECK(ask<std::vector<StreamId>>(test.system, consumer, streams_atom_v).value().empty());
  stop(consumer);
}

TEST_CASE("following_is_answered_once_also_when_the_endpoint_goes") {
  TestSystem test;
  const auto consumer = spawn_consumer(test.system);
  auto node = std::make_unique<Endpoint>(test.system, EndpointOptions{.node = "n"});
  std::atomic<int> answers = 0;
  const auto asker = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    // Sent, not requested: every answer arrives as a message, a second one too.
    compat::send(self, consumer, follow_atom_v, node->ref().actor());
    return compat::telling_unexpected(
        self, {[&](const SubscriptionStart&) { ++answers; }, [&](const caf::error&) { ++answers; }},
        [&] { ++answers; });
  });
  REQUIRE(eventually([&] { return answers == 1; }));
  node.reset();
  // The consumer has heard of the end once it refuses to follow the dead.
  REQUIRE_FALSE(ask<SubscriptionStart>(test.system, consumer, follow_atom_v, caf::actor{}));
  caf::scoped_actor self{test.system};
  compat::request(self.ptr(), asker, 20s, 1.5).receive([](int) {}, [](const caf::error&) {});
  CHECK(answers == 2); // the first answer, and this last question
  stop(asker);
  stop(consumer);
}

TEST_CASE("pages_put_together_equal_the_stream_and_report_each_gap_once") {
  TestSystem test;
  std::mt19937_64 random(11);
  for (int round = 0; round < 10; ++round) {
    Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
    const auto consumer = spawn_consumer(test.system, {.subscribe = {.capacity = {64, 1U << 20U}}});
    REQUIRE(follow(test, consumer, node.ref()));
    Store expected; // what a store has that saw the same frames
    auto tail = node.subscribe("tail", SubscriptionRequest::all(), {1U << 20U, 64U << 20U});
    std::uint64_t sent = 0;
    for (int step = 0; step < 30; ++step) {
      // More than the capacity now and then, so that there are gaps.
      for (auto n = random() % 100; n > 0; --n)
        sent += node.producer().submit_text(ChannelId{1}, std::to_string(random() % 1000));
      ask<EndpointTick>(test.system, node.ref().actor(), tick_atom_v).value();
      if (random() % 2)
        REQUIRE(eventually([&] {
          return outstanding(node.ledger()) <= sent &&
                 node.ledger().fanout.subscribers[0].counts.outstanding == 0;
        }));
    }
    REQUIRE(node.close());
    const auto ledger =
        ask<IngestLedger>(test.system, consumer, ledger_atom_v, node.stream_id()).value();
    CHECK(ledger.balanced());
    CHECK(ledger.missing() == sent - ledger.stored);
    std::vector<std::string> all;
    while (const auto batch = tail.recv())
      for (const FrameView& frame : batch->frames)
        all.emplace_back(frame.payload);
    REQUIRE(all.size() == sent);

    std::uint64_t frames = 0;
    std::uint64_t missing = 0;
    Position next{0};
    std::optional<Position> last;
    for (bool more = true; more;) {
      const auto part = page(test, consumer, node.stream_id(), next,
                             static_cast<std::uint32_t>(1 + random() % 40));
      REQUIRE(part);
      REQUIRE((part->frames.size() > 0 || !part->more));
      for (const GapSpan& gap : part->gaps) {
        CHECK((!last || gap.first > *last));
        last = gap.last;
        missing += gap.last.value - gap.first.value + 1;
      }
      for (const FrameView& frame : part->frames) {
        CHECK(frame.payload == all[frame.position.value]);
        ++frames;
      }
      next = part->next;
      more = part->more;
    }
    CHECK(frames == ledger.stored);
    CHECK(missing == ledger.interior_gaps());
    stop(consumer);
  }
}

TEST_CASE("a_page_has_the_frames_that_were_asked_for_but_at_least_one_and_at_most_4096") {
  TestSystem test;
  const StreamId stream{"n", {1}};
  std::vector<Frame> frames(5000);
  for (std::size_t i = 0; i < frames.size(); ++i)
    frames[i].position.value = i;
  EventBatch batch;
  batch.frames = FrameBatch::copy_of(stream, frames);
  const auto consumer = spawn_consumer(test.system);
  REQUIRE(ask<EndpointTick>(test.system, consumer, publish_atom_v, batch));
  const auto frames_from = [&](std::uint64_t position, std::uint32_t at_most) {
    const auto part = page(test, consumer, stream, Position{position}, at_most);
    REQUIRE(part);
    CHECK(part->next == Position{position + part->frames.size()});
    CHECK(part->more == (part->next.value < frames.size()));
    return part->frames.size();
  };
  CHECK(frames_from(0, 0) == 1);
  CHECK(frames_from(0, 1) == 1);
  CHECK(frames_from(0, 10) == 10);
  CHECK(frames_from(0, 1'000'000) == 4096);
  CHECK(frames_from(4096, 904) == 904);
  CHECK(frames_from(4096, 905) == 904);
  stop(consumer);
}

TEST_CASE("a_page_tells_what_was_evicted_where_it_begins_and_the_gap_behind_it") {
  TestSystem test;
  const StreamId stream{"n", {1}};
  std::vector<Frame> frames;
  for (std::uint64_t position = 0; position < 30; ++position)
    if (position < 10 || position >= 20)
      frames.push_back({{1}, {position}, "x"});
  EventBatch batch;
  batch.frames = FrameBatch::copy_of(stream, frames);
  const auto consumer = spawn_consumer(test.system, {.retention = {.frames = 10}});
  REQUIRE(ask<EndpointTick>(test.system, consumer, publish_atom_v, batch));
  const auto first = page(test, consumer, stream, Position{0}, 100).value();
  CHECK(first.frames.size() == 10);
  CHECK(first.evicted == EvictedRange{{10}, 10, 10, 0});
  CHECK(first.gaps == std::vector<GapSpan>{{{10}, {19}}});
  const auto inside = page(test, consumer, stream, Position{15}, 100).value();
  CHECK_FALSE(inside.evicted);
  CHECK(inside.gaps == std::vector<GapSpan>{{{15}, {19}}});
  stop(consumer);
}

TEST_CASE("a_page_is_bounded_in_bytes_and_never_empty_while_there_is_more") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto consumer = spawn_consumer(test.system);
  REQUIRE(follow(test, consumer, node.ref()));
  const std::string large(3U << 20U, 'x');
  for (int i = 0; i < 4; ++i)
    REQUIRE(node.producer().submit_bytes(ChannelId{1}, large));
  REQUIRE(node.close());
  Position next;
  for (int i = 0; i < 4; ++i) {
    const auto part = page(test, consumer, node.stream_id(), next, 4000);
    REQUIRE(part);
    CHECK(part->frames.size() == 1);
    CHECK(part->more == (i < 3));
    next = part->next;
  }
  stop(consumer);
}

TEST_CASE("a_consumer_forgets_a_stream_that_is_over_and_keeps_its_counts") {
  TestSystem test;
  const auto consumer = spawn_consumer(test.system);
  StreamId over;
  {
    Endpoint node{test.system, {.node = "n"}};
    over = node.stream_id();
    REQUIRE(follow(test, consumer, node.ref()));
    const auto log = node.producer().register_channel("a.log", TextStream{});
    for (int i = 0; i < 10; ++i)
      REQUIRE(node.producer().submit_text(log, "line"));
    REQUIRE(node.close());
  }
  const auto before = ask<IngestLedger>(test.system, consumer, ledger_atom_v, over).value();
  CHECK(before.stored == 10);
  CHECK(ask<bool>(test.system, consumer, forget_atom_v, over) == true);
  CHECK(ask<bool>(test.system, consumer, forget_atom_v, over) == false);
  CHECK_FALSE(ask<IngestLedger>(test.system, consumer, ledger_atom_v, over));
  CHECK(ask<DatastreamSnapshot>(test.system, consumer, snapshot_atom_v, SubscriptionRequest::all())
            .value()
            .streams.empty());
  const auto after = ask<ConsumerLedger>(test.system, consumer, ledger_atom_v).value();
  CHECK(after.streams.empty());
  CHECK(after.forgotten ==
        ForgottenLedger{.streams = 1, .arrived = before.arrived, .stored = before.stored});
  stop(consumer);
}

TEST_CASE("a_consumer_forgets_nothing_because_another_node_says_so") {
  RemoteSystem test;
  const StreamId stream{"n", {1}};
  const auto consumer = spawn_consumer(test.system);
  EventBatch batch;
  const Frame frame{{1}, {0}, "x"};
  batch.frames = FrameBatch::copy_of(stream, {&frame, 1});
  REQUIRE(ask<EndpointTick>(test.system, consumer, publish_atom_v, batch));
  const auto port = publish(test.system, consumer, 0);
  REQUIRE(port);
  RemoteSystem elsewhere; // its own node, over TCP
  const auto there = connect(elsewhere.system, "127.0.0.1", *port);
  REQUIRE(there);
  const auto refused = ask<bool>(elsewhere.system, there->actor(), forget_atom_v, stream);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == caf::make_error(ActorError::not_local));
  CHECK(ask<IngestLedger>(test.system, consumer, ledger_atom_v, stream));
  stop(consumer);
}

TEST_CASE("queries_do_not_stall_ingest") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto consumer = spawn_consumer(test.system);
  REQUIRE(follow(test, consumer, node.ref()));
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> pages = 0;
  std::jthread asking([&] {
    while (!done) {
      if (page(test, consumer, node.stream_id(), Position{0}, 4096))
        ++pages;
    }
  });
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j < 100; ++j)
      ++(node.producer().submit_text(ChannelId{1}, "some text of a log") ? sent : refused);
    std::this_thread::sleep_for(1ms);
  }
  CHECK(eventually([&] { return stored(test, consumer, node.stream_id()) == sent; }));
  done = true;
  asking.join();
  CHECK(pages > 10);
  CHECK(refused == 0);
  CHECK(node.close());
  CHECK(node.ledger().fanout.departed.dropped == 0);
  stop(consumer);
}
