#include "middleman_test.hpp"

#include <datastream/actors/thread_subscription.hpp>
#include <datastream/caf/request.hpp>
#include <datastream/caf/send.hpp>

#include <doctest/doctest.h>

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/message_id.hpp>
#include <caf/sec.hpp>

#include <atomic>
#include <string>
#include <thread>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

TEST_CASE("a_thread_reads_a_stream_of_this_process_or_another_as_it_reads_its_own") {
  RemoteSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto port = publish(test.system, node.ref(), 0);
  REQUIRE(port);
  RemoteSystem elsewhere;
  const auto remote = connect(elsewhere.system, "127.0.0.1", *port);
  REQUIRE(remote);
  const auto out = node.producer();
  const auto log = out.register_channel("log", TextStream{});
  for (const bool here : {true, false}) {
    auto in = here ? ThreadSubscription::open(test.system, node.ref(), {.name = "thread"})
                   : ThreadSubscription::open(elsewhere.system, *remote, {.name = "thread"});
    REQUIRE(in);
    CHECK(in->start().snapshot.channels.size() == 1);
    CHECK(in->try_recv().error() == RecvError::empty);
    CHECK(in->recv_for(1ms).error() == RecvError::timeout);
    out.submit_text(log, "hello");
    const auto batch = in->recv();
    REQUIRE(batch);
    REQUIRE(batch->frames.size() == 1);
    batch->each([](const FrameView& frame) {
      CHECK(frame.name == "log");
      CHECK(frame.payload == "hello");
    });
    // Taken is acknowledged.
    CHECK(eventually([&] { return outstanding(node.ledger()) == 0; }));
    CHECK(in->try_recv().error() == RecvError::empty);
  }
  // Their ends unsubscribed them.
  CHECK(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
  CHECK(node.ledger().balanced());
}

TEST_CASE("what_a_thread_leaves_lying_is_bounded_dropped_and_counted") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  auto in = ThreadSubscription::open(test.system, node.ref(), {.capacity = {5, 1U << 20U}});
  REQUIRE(in);
  for (int i = 0; i < 100; ++i)
    node.producer().submit_text(ChannelId{1}, "x");
  REQUIRE(eventually([&] { return node.ledger().in_mux == 0; }));
  std::uint64_t frames = 0;
  std::uint64_t dropped = 0;
  while (dropped + frames < 100) {
    const auto batch = in->recv_for(10s);
    REQUIRE(batch);
    frames += batch->frames.size();
    dropped = batch->dropped;
  }
  CHECK(frames == 5);
  CHECK(dropped == 95);
}

TEST_CASE("a_thread_may_wait_longer_than_clocks_count") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  auto in = ThreadSubscription::open(test.system, node.ref());
  REQUIRE(in);
  for (const std::chrono::nanoseconds timeout :
       {std::chrono::nanoseconds(std::chrono::hours(24 * 365 * 250)),
        std::chrono::nanoseconds::max()}) {
    std::jthread producer([&] { node.producer().submit_text(ChannelId{1}, "late"); });
    const auto batch = in->recv_for(timeout);
    REQUIRE(batch);
    CHECK(batch->frames.size() == 1);
  }
}

TEST_CASE("a_stop_token_and_the_endpoint_s_end_wake_a_waiting_thread") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  auto in = ThreadSubscription::open(test.system, node.ref());
  REQUIRE(in);
  std::stop_source stop;
  std::jthread waker([&] { stop.request_stop(); });
  CHECK(in->recv(stop.get_token()).error() == RecvError::stopped);
  CHECK(in->recv_for(1h, stop.get_token()).error() == RecvError::stopped);
  CHECK(in->recv_for(std::chrono::nanoseconds::max(), stop.get_token()).error() ==
        RecvError::stopped);
  std::jthread closer([&] { node.close(); });
  const auto end = in->recv();
  REQUIRE(end);
  CHECK(end->ended);
  CHECK(in->recv().error() == RecvError::disconnected);
  CHECK(in->try_recv().error() == RecvError::disconnected);
}

TEST_CASE("a_thread_that_subscribes_to_nobody_is_told_why") {
  TestSystem test;
  CHECK_FALSE(ThreadSubscription::open(test.system, EndpointRef()));
  Endpoint node{test.system, {.node = "n"}};
  const EndpointRef ref = node.ref();
  node.close();
  CHECK_FALSE(ThreadSubscription::open(test.system, ref));
}

TEST_CASE("a_thread_s_subscription_that_is_told_to_exit_says_so") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  auto in = ThreadSubscription::open(test.system, node.ref());
  REQUIRE(in);
  auto moved = std::move(*in);
  CHECK_FALSE(moved.reason());
  node.close();
  while (moved.recv())
    ;
  CHECK(moved.recv().error() == RecvError::disconnected);
}

TEST_CASE("a_thread_is_held_up_by_no_message_that_is_none_of_its_own") {
  TestSystem test;
  caf::actor reader; // as an endpoint knows it, also one of another process
  const auto endpoint = test.system.spawn([&]() -> caf::behavior {
    return {[&](subscribe_atom, const Subscribe&, const caf::actor& whom) {
              reader = whom;
              SubscriptionStart start;
              start.id = SubscriptionId{1};
              return start;
            },
            [](unsubscribe_atom, SubscriptionId) { return true; },
            [](acknowledge_atom, SubscriptionId, std::uint64_t) {}};
  });
  auto in = ThreadSubscription::open(test.system, EndpointRef(endpoint));
  REQUIRE(in);
  compat::anon_send(reader, 17);
  compat::anon_send(reader, caf::make_error(caf::sec::runtime_error));
  compat::anon_send(reader, std::string("text"));
  const caf::message_id stray = caf::make_message_id(4711).response_id(); // to no request of it
  caf::actor_cast<caf::abstract_actor*>(reader)->enqueue(
      compat::detail::envelope(nullptr, stray, caf::make_message(17)), nullptr);
  for (int i = 0; i < 4; ++i)
    CHECK(in->recv_for(1ms).error() == RecvError::timeout);
  CHECK(in->try_recv().error() == RecvError::empty);
  std::atomic<bool> refused = false;
  std::jthread asking([&] { refused = !ask<int>(test.system, reader, 17); });
  while (!refused)
    CHECK(in->recv_for(1ms).error() == RecvError::timeout);
  asking.join();
  stop(endpoint);
  CHECK(in->recv().error() == RecvError::disconnected);
}

TEST_CASE("a_blocking_actor_reads_several_streams_between_its_own_messages") {
  TestSystem test;
  Endpoint one{test.system, {.node = "one"}};
  Endpoint two{test.system, {.node = "two"}};
  const auto seen_one = std::make_shared<Seen>();
  const auto seen_two = std::make_shared<Seen>();
  std::atomic<int> own = 0;
  const auto actor = test.system.spawn([&](caf::blocking_actor* self) {
    Subscriber in{self};
    in.subscribe(one.ref(), recording(seen_one));
    const auto second = in.subscribe(two.ref(), recording(seen_two));
    // Subscribing has waited for the answer.
    CHECK(seen_one->has_started());
    bool more = true;
    caf::behavior handlers = in.handlers([&](int value) {
      own += value;
      in.unsubscribe(second);
      more = value != 0;
    });
    self->receive_while([&] { return more; })(handlers);
  });
  REQUIRE(eventually([&] { return seen_two->has_started(); }));
  one.producer().submit_text(ChannelId{1}, "x");
  two.producer().submit_text(ChannelId{1}, "x");
  CHECK(eventually([&] { return seen_one->frames() == 1 && seen_two->frames() == 1; }));
  compat::anon_send(actor, 5);
  CHECK(eventually([&] { return two.ledger().fanout.subscribers.empty(); }));
  one.producer().submit_text(ChannelId{1}, "y");
  CHECK(eventually([&] { return seen_one->frames() == 2; }));
  CHECK(own == 5);
  compat::anon_send(actor, 0);
  CHECK(eventually([&] { return one.ledger().fanout.subscribers.empty(); }));
  CHECK(one.ledger().balanced());
}

TEST_CASE("a_blocking_actor_waits_for_a_remote_stream_that_is_not_there_yet") {
  RemoteSystem test;
  RemoteSystem elsewhere;
  Endpoint node{elsewhere.system, {.node = "n"}};
  // A port that nobody listens at yet.
  const auto port = publish(elsewhere.system, node.ref(), 0);
  REQUIRE(port);
  REQUIRE(unpublish(elsewhere.system, node.ref().actor(), *port));
  const auto seen = std::make_shared<Seen>();
  std::jthread reader([&] {
    caf::scoped_actor self{test.system};
    Subscriber in{self.ptr()};
    in.subscribe(RemoteEndpoint{.host = "127.0.0.1", .port = *port, .retry_most = 50ms},
                 recording(seen));
    caf::behavior handlers = in.handlers();
    self->receive_while([&] { return !seen->has_ended(); })(handlers);
  });
  CHECK_FALSE(eventually([&] { return seen->has_started(); }, 200ms));
  REQUIRE(publish(elsewhere.system, node.ref(), *port));
  REQUIRE(eventually([&] { return seen->has_started(); }));
  node.producer().submit_text(ChannelId{1}, "x");
  CHECK(node.close(20s));
  CHECK(eventually([&] { return seen->has_ended(); }));
  CHECK(seen->frames() == 1);
}
