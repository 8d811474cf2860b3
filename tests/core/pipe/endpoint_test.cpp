#include "pipe_support.hpp"

#include <datastream/model/health.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <thread>

using namespace datastream;
using namespace pipe_test;
using namespace std::chrono_literals;

namespace {

using Positions = std::vector<std::uint64_t>;

/// A pushed subscriber of an endpoint, and what it received.
struct Pushed {
  explicit Pushed(DatastreamEndpoint& endpoint, SubscriberCapacity capacity = {})
      : start(endpoint.attach("pushed", SubscriptionRequest::all(), capacity,
                              std::make_unique<InboxSink>(inbox))) {}
  std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
  SubscriptionStart start;
};

} // namespace

TEST_CASE("endpoint_without_subscribers_drains_to_bitbucket") {
  DatastreamEndpoint endpoint(stream_id);
  const ChannelId log = endpoint.register_channel("log", TextStream{});
  REQUIRE(endpoint.producer().submit_text(log, "lost"));
  CHECK(endpoint.tick() == EndpointTick{.drained = 1});
  const PipeLedger ledger = endpoint.ledger();
  CHECK(ledger.assigned == 1);
  CHECK(ledger.bitbucketed == 1);
  CHECK(ledger.published == 0);
  CHECK(ledger.balanced());
}

TEST_CASE("subscription_snapshot_contains_stream_and_channel_metadata") {
  DatastreamEndpoint endpoint(StreamDescriptor{stream_id, "label", StreamOrigin::Bootstrap});
  endpoint.register_channel("log", TextStream{});
  endpoint.register_channel("record", JsonRecord{"record"});
  auto reader = endpoint.subscribe("reader");
  CHECK(reader.snapshot() ==
        DatastreamSnapshot{
            {{stream_id, "label", StreamOrigin::Bootstrap}},
            {{stream_id, ChannelId{1}, "log", std::nullopt, TextStream{}},
             {stream_id, ChannelId{2}, "record", std::nullopt, JsonRecord{"record"}}}});
  CHECK(DatastreamEndpoint(stream_id).subscribe("x").snapshot().streams.front() ==
        StreamDescriptor{stream_id, std::nullopt, StreamOrigin::RemoteNode});
}

TEST_CASE("subscription_receives_only_future_matching_frames") {
  DatastreamEndpoint endpoint(stream_id);
  const auto out = endpoint.producer();
  const ChannelId log = out.register_channel("log", TextStream{});
  out.submit_text(log, "earlier");
  endpoint.tick();
  auto reader = endpoint.subscribe("reader");
  CHECK(reader.starts() == std::vector<StreamStart>{{stream_id, Position{1}}});
  out.submit_text(log, "later");
  endpoint.tick();
  CHECK(events_of(reader.drain_available()) ==
        std::vector<DatastreamEvent>{FrameDelivery{{stream_id, log}, Position{1}, "later"}});
}

TEST_CASE("subscription_snapshot_filters_but_future_fanout_broadcasts") {
  DatastreamEndpoint endpoint(stream_id);
  const auto out = endpoint.producer();
  const ChannelId a = out.register_channel("a", TextStream{});
  const ChannelId b = out.register_channel("b", Bytes{});
  auto reader = endpoint.subscribe("reader", {source_filter::All{}, channel_filter::Name{"a"}});
  CHECK(reader.request().channels == ChannelFilter(channel_filter::Name{"a"}));
  CHECK(reader.snapshot().channels.size() == 1);
  out.submit_text(a, "1");
  out.submit_bytes(b, "2");
  endpoint.tick();
  const auto delivery = reader.try_recv();
  REQUIRE(delivery);
  std::vector<std::string> seen;
  delivery->each([&](const FrameView& frame) {
    seen.push_back(std::string(frame.name) + "=" + std::string(frame.payload));
  });
  CHECK(seen == std::vector<std::string>{"a=1", "=2"});
}

TEST_CASE("endpoint_fans_out_ordered_frames_to_multiple_subscribers") {
  DatastreamEndpoint endpoint(stream_id);
  auto one = endpoint.subscribe("one");
  auto two = endpoint.subscribe("two");
  for (const char* text : {"a", "b", "c"})
    REQUIRE(endpoint.producer().submit_text(ChannelId{1}, text));
  CHECK(endpoint.tick() == EndpointTick{.drained = 3, .delivered = 6, .subscribers = 2});
  CHECK(positions_of(one.drain_available()) == Positions{0, 1, 2});
  CHECK(positions_of(two.drain_available()) == Positions{0, 1, 2});
  CHECK(endpoint.ledger().published == 3);
  CHECK(endpoint.tick() == EndpointTick{});
}

TEST_CASE("channel_declared_is_broadcast_to_filtered_subscribers") {
  DatastreamEndpoint endpoint(stream_id);
  auto reader = endpoint.subscribe("reader", {source_filter::All{}, channel_filter::Name{"x"}});
  endpoint.register_channel("not x", Bytes{});
  const auto events = events_of(reader.drain_available()); // without a tick
  REQUIRE(events.size() == 1);
  CHECK(std::get<ChannelDeclared>(events[0]).descriptor.name == "not x");
  CHECK(endpoint.tick() == EndpointTick{});
}

TEST_CASE("submit_text_owned_queues_owned_string") {
  DatastreamEndpoint endpoint(stream_id);
  auto reader = endpoint.subscribe("reader");
  const auto out = endpoint.producer();
  CHECK(out.submit_text_owned(ChannelId{1}, "owned"));
  std::string large(1U << 20U, 'x');
  const char* bytes = large.data();
  CHECK(out.submit_bytes_owned(ChannelId{1}, std::move(large)));
  endpoint.tick();
  CHECK(reader.try_recv()->frames.front().payload == "owned");
  CHECK(reader.try_recv()->frames.front().payload.data() == bytes);
}

TEST_CASE("every_form_of_submission_carries_its_bytes") {
  DatastreamEndpoint endpoint(stream_id);
  auto reader = endpoint.subscribe("reader");
  const auto out = endpoint.producer();
  const std::string raw("\0\xff", 2);
  CHECK(out.submit_bytes(ChannelId{1}, raw));
  CHECK(out.submit_bytes(ChannelId{1}, std::as_bytes(std::span(raw))));
  CHECK(out.submit_bytes_owned(ChannelId{1}, raw));
  CHECK(out.submit_text(ChannelId{1}, raw));
  const std::vector<std::string_view> many = {raw, raw};
  CHECK(out.submit_many(ChannelId{1}, many) == 2);
  CHECK(endpoint.tick().delivered == 6);
  std::size_t seen = 0;
  for (const EventBatch& delivery : reader.drain_available())
    for (const FrameView& frame : delivery.frames)
      seen += frame.payload == raw ? 1 : 0;
  CHECK(seen == 6);
}

TEST_CASE("a_conflicting_registration_throws_or_returns_the_error") {
  DatastreamEndpoint endpoint(stream_id);
  const auto out = endpoint.producer();
  const ChannelId id = out.register_channel("a", TextStream{});
  CHECK(endpoint.register_channel("a", TextStream{}) == id);
  CHECK_THROWS_AS(out.register_channel("a", Bytes{}), std::logic_error);
  CHECK_THROWS_AS(endpoint.register_channel("a", Bytes{}), std::logic_error);
  CHECK(out.try_register_channel("a", Bytes{}).error().kind ==
        CatalogError::Kind::conflicting_name);
  CHECK(out.find_channel("a") == id);
  CHECK(out.find_channel("b") == std::nullopt);
  CHECK(out.stream_id() == stream_id);
}

TEST_CASE("conflicting_registration_fails_without_catalog_or_fanout_mutation") {
  DatastreamEndpoint endpoint(stream_id);
  endpoint.register_channel("a", TextStream{});
  auto reader = endpoint.subscribe("reader");
  const auto before = endpoint.catalog()->snapshot();
  CHECK(!endpoint.try_register_channel("a", Bytes{}));
  const auto after = endpoint.catalog()->snapshot();
  CHECK(after.version == before.version);
  CHECK(after.snapshot == before.snapshot);
  CHECK(reader.try_recv().error() == RecvError::empty);
  CHECK(endpoint.register_channel("b", Bytes{}) == ChannelId{2});
}

TEST_CASE("mux_rejection_never_appears_or_consumes_a_position") {
  DatastreamEndpoint endpoint(stream_id, {.mux = {.frames = 2}});
  auto reader = endpoint.subscribe("reader");
  const auto out = endpoint.producer();
  for (const char* text : {"0", "1", "refused", "refused"})
    out.submit_text(ChannelId{1}, text);
  endpoint.tick();
  CHECK(out.submit_text(ChannelId{1}, "2"));
  endpoint.tick();
  for (const FrameDelivery& frame : only<FrameDelivery>(events_of(reader.drain_available())))
    CHECK(frame.payload == std::to_string(frame.position.value));
  const PipeLedger ledger = endpoint.ledger();
  CHECK(ledger.refused == RefusedCounts{.mux_frames_full = 2});
  CHECK(ledger.submitted() == 5);
  CHECK(ledger.assigned == 3);
}

TEST_CASE("drained_directly_frames_bypass_the_fanout_and_are_counted") {
  DatastreamEndpoint endpoint(stream_id);
  auto reader = endpoint.subscribe("reader");
  const auto out = endpoint.producer();
  out.submit_text(ChannelId{1}, "0");
  out.submit_text(ChannelId{1}, "1");
  std::vector<FrameBatch> taken;
  CHECK(endpoint.drain_directly(taken) == 2);
  CHECK(endpoint.drain_directly(taken) == 0);
  CHECK(positions_of(taken) == Positions{0, 1});
  CHECK(endpoint.subscribe("late").starts().front().from == Position{2});
  out.submit_text(ChannelId{1}, "2");
  endpoint.tick();
  CHECK(positions_of(reader.drain_available()) == Positions{2});
  const PipeLedger ledger = endpoint.ledger();
  CHECK(ledger.drained_directly == 2);
  CHECK(ledger.published == 1);
  CHECK(ledger.balanced());
}

TEST_CASE("a_direct_drain_between_the_halves_of_a_tick_publishes_the_first_half_before") {
  DatastreamEndpoint endpoint(stream_id);
  auto reader = endpoint.subscribe("reader");
  const auto out = endpoint.producer();
  out.submit_text(ChannelId{1}, "0");
  out.submit_text(ChannelId{1}, "1");
  REQUIRE(endpoint.drain());
  out.submit_text(ChannelId{1}, "2");
  std::vector<FrameBatch> taken;
  CHECK(endpoint.drain_directly(taken) == 1);
  CHECK(positions_of(taken) == Positions{2});
  CHECK(positions_of(reader.drain_available()) == Positions{0, 1});
  auto late = endpoint.subscribe("late");
  CHECK(late.starts() == std::vector<StreamStart>{{stream_id, Position{3}}});
  CHECK(endpoint.publish_drained() == EndpointTick{});
  out.submit_text(ChannelId{1}, "3");
  endpoint.tick();
  CHECK(positions_of(late.drain_available()) == Positions{3});
  const PipeLedger ledger = endpoint.ledger();
  CHECK(ledger.published == 3);
  CHECK(ledger.drained_directly == 1);
  CHECK(ledger.balanced());
}

TEST_CASE("a_tick_in_two_halves_keeps_the_ledger_balanced_between_them") {
  DatastreamEndpoint endpoint(stream_id);
  auto subscription = endpoint.subscribe("reader");
  const auto out = endpoint.producer();
  endpoint.tick();
  CHECK(!endpoint.drain()); // nothing to publish
  out.submit_bytes(ChannelId{1}, "a");
  CHECK(endpoint.drain());
  out.submit_bytes(ChannelId{1}, "b");
  out.submit_bytes(ChannelId{1}, "c");
  CHECK(endpoint.drain());
  PipeLedger ledger = endpoint.ledger();
  CHECK(ledger.in_transit == 3);
  CHECK(ledger.assigned == 3);
  CHECK(ledger.balanced());
  CHECK(subscription.counts().offered == 0);
  CHECK(endpoint.publish_drained() == EndpointTick{.drained = 3, .delivered = 3, .subscribers = 1});
  CHECK(endpoint.publish_drained() == EndpointTick{});
  ledger = endpoint.ledger();
  CHECK(ledger.in_transit == 0);
  CHECK(ledger.published == 3);
  CHECK(ledger.balanced());
  CHECK(positions_of(subscription.drain_available()) == std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("an_end_between_the_halves_of_a_tick_comes_after_what_was_drained") {
  DatastreamEndpoint endpoint(stream_id);
  auto subscription = endpoint.subscribe("reader");
  endpoint.producer().submit_bytes(ChannelId{1}, "a");
  endpoint.drain();
  endpoint.producer().submit_bytes(ChannelId{1}, "b");
  endpoint.end_stream();
  const auto deliveries = subscription.drain_available();
  CHECK(positions_of(deliveries) == std::vector<std::uint64_t>{0, 1});
  CHECK(deliveries.back().ended == StreamEnd{stream_id, 2});
  CHECK(endpoint.ledger().balanced());
}

TEST_CASE("a_channel_registered_between_ticks_gives_publish_drained_something_to_do") {
  DatastreamEndpoint endpoint(stream_id);
  const auto inbox = std::make_shared<Inbox>();
  endpoint.attach("pushed", {}, {}, std::make_unique<InboxSink>(inbox));
  endpoint.tick();
  endpoint.register_channel("late", Bytes{});
  CHECK(endpoint.drain());
  endpoint.publish_drained();
  CHECK(declared_names(inbox->all()) == std::vector<std::string>{"late"});
  CHECK(!endpoint.drain());
}

TEST_CASE("ticks_go_on_while_somebody_subscribes_to_many_channels") {
  DatastreamEndpoint endpoint(stream_id);
  for (int i = 0; i < 50'000; ++i)
    endpoint.register_channel("some.longer.name." + std::to_string(i), Bytes{});
  std::atomic<std::uint64_t> ticks = 0;
  std::jthread ticking([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      endpoint.tick();
      ++ticks;
    }
  });
  while (ticks == 0)
    std::this_thread::yield();
  int undisturbed = 0;
  for (int i = 0; i < 9; ++i) {
    const std::uint64_t before = ticks;
    const auto reader = endpoint.subscribe("reader");
    undisturbed += ticks - before > 100 ? 1 : 0;
    CHECK(reader.snapshot().channels.size() == 50'000);
  }
  CHECK(undisturbed >= 5); // the system may have given one of them no time
}

TEST_CASE("a_pushed_subscriber_is_told_of_a_channel_by_the_next_tick") {
  DatastreamEndpoint endpoint(stream_id);
  Pushed pushed(endpoint);
  endpoint.tick();
  CHECK(pushed.inbox->size() == 0);
  endpoint.register_channel("new", Bytes{});
  CHECK(endpoint.tick() == EndpointTick{});
  REQUIRE(pushed.inbox->size() == 1);
  CHECK(declared_names(pushed.inbox->all()) == std::vector<std::string>{"new"});
  CHECK(endpoint.acknowledge(pushed.start.id, 1));
  endpoint.tick();
  CHECK(pushed.inbox->size() == 1);
  CHECK(endpoint.unsubscribe(pushed.start.id));
}

TEST_CASE("ending_a_stream_publishes_what_was_accepted_and_then_the_end_once") {
  DatastreamEndpoint endpoint(stream_id);
  auto reader = endpoint.subscribe("reader");
  Pushed pushed(endpoint);
  const auto out = endpoint.producer();
  const ChannelId log = out.register_channel("log", TextStream{});
  out.submit_text(log, "last");
  CHECK(!endpoint.ended());
  endpoint.end_stream();
  endpoint.end_stream();
  endpoint.tick();
  CHECK(endpoint.ended());
  CHECK(endpoint.ledger().ended);
  for (const auto& deliveries : {reader.drain_available(), pushed.inbox->all()}) {
    const auto events = events_of(deliveries);
    REQUIRE(events.size() == 3);
    CHECK(std::holds_alternative<ChannelDeclared>(events[0]));
    CHECK(std::holds_alternative<FrameDelivery>(events[1]));
    CHECK(std::get<StreamEnded>(events[2]).stream == stream_id);
    CHECK(deliveries.back().ended == StreamEnd{stream_id, 1});
  }
  CHECK(reader.try_recv().error() == RecvError::disconnected);
}

TEST_CASE("after_the_end_everything_is_refused_and_counted") {
  DatastreamEndpoint endpoint(stream_id);
  const auto out = endpoint.producer();
  const ChannelId log = out.register_channel("log", TextStream{});
  endpoint.end_stream();
  CHECK(!out.submit_text(log, "late"));
  const std::vector<std::string_view> many = {"late", "later"};
  CHECK(out.submit_many(log, many) == 0);
  CHECK(!endpoint.submit_health());
  CHECK(out.try_register_channel("new", Bytes{}).error().kind == CatalogError::Kind::stream_ended);
  CHECK(out.register_channel("log", TextStream{}) == log);
  CHECK(endpoint.tick() == EndpointTick{});
  const PipeLedger ledger = endpoint.ledger();
  CHECK(ledger.refused == RefusedCounts{.stream_ended = 4});
  CHECK(ledger.submitted() == 4);
  CHECK(ledger.assigned == 0);
}

TEST_CASE("a_late_subscriber_gets_the_snapshot_then_the_end_and_is_disconnected") {
  DatastreamEndpoint endpoint(stream_id);
  endpoint.register_channel("log", TextStream{});
  endpoint.producer().submit_text(ChannelId{1}, "x");
  endpoint.end_stream();
  auto late = endpoint.subscribe("late");
  CHECK(late.snapshot().channels.size() == 1);
  CHECK(late.starts() == std::vector<StreamStart>{{stream_id, Position{1}}});
  const auto delivery = late.recv();
  REQUIRE(delivery);
  CHECK(delivery->declarations.empty());
  CHECK(delivery->frames.empty());
  CHECK(delivery->ended == StreamEnd{stream_id, 1});
  CHECK(late.recv().error() == RecvError::disconnected);
}

TEST_CASE("several_that_come_after_the_end_are_each_told_of_it_once") {
  DatastreamEndpoint endpoint(stream_id);
  endpoint.end_stream();
  std::vector<Pushed> late;
  for (int i = 0; i < 3; ++i)
    late.emplace_back(endpoint);
  CHECK(endpoint.drain());
  endpoint.publish_drained();
  endpoint.refresh(late[1].start.id);
  late.emplace_back(endpoint);
  endpoint.refresh(late[3].start.id); // need not wait for the tick
  endpoint.tick();
  for (const Pushed& each : late) {
    REQUIRE(each.inbox->size() == 1);
    CHECK(each.inbox->all()[0].ended == StreamEnd{stream_id, 0});
  }
  CHECK(!endpoint.drain());
}

TEST_CASE("a_late_pushed_subscriber_is_told_of_the_end_by_the_next_tick_and_wakes_an_idle_one") {
  DatastreamEndpoint endpoint(stream_id);
  int calls = 0;
  endpoint.set_waker([&] { ++calls; });
  endpoint.end_stream();
  endpoint.tick();
  REQUIRE(endpoint.try_idle());
  Pushed late(endpoint);
  CHECK(calls == 1);
  CHECK(late.inbox->size() == 0);
  CHECK(!endpoint.try_idle());
  endpoint.tick();
  REQUIRE(late.inbox->size() == 1);
  CHECK(late.inbox->all()[0].ended == StreamEnd{stream_id, 0});
  endpoint.tick();
  CHECK(late.inbox->size() == 1);
}

TEST_CASE("ending_while_threads_submit_loses_nothing_that_was_accepted") {
  // Long payloads, so that the end often comes between a claim and its completion.
  const std::string in_slab(defaults::slab_payload_max, 'x');
  const std::string in_block(defaults::slab_payload_max + 1, 'x');
  for (int round = 0; round < 40; ++round) {
    DatastreamEndpoint endpoint(stream_id, {.mux = {.frames = 16}});
    auto reader = endpoint.subscribe("reader", SubscriptionRequest::all(),
                                     {.frames = 1U << 20U, .bytes = std::size_t{1} << 40U});
    std::atomic<std::uint64_t> accepted = 0;
    std::atomic<std::uint64_t> refused = 0;
    std::atomic<int> running = 0;
    std::vector<std::jthread> threads;
    for (std::uint32_t t = 0; t < 3; ++t)
      threads.emplace_back([&, t, out = endpoint.producer()] {
        ++running;
        for (std::uint64_t i = 0;; ++i) {
          const bool taken = out.submit_bytes(ChannelId{t}, i % 8 == 7 ? in_block : in_slab);
          ++(taken ? accepted : refused);
          if (!taken && endpoint.ended())
            return;
        }
      });
    REQUIRE(eventually([&] { return running == 3; }));
    for (int i = 0; i < round % 10; ++i)
      endpoint.tick();
    endpoint.end_stream();
    threads.clear();
    std::uint64_t next = 0;
    std::uint64_t ends = 0;
    for (const EventBatch& delivery : reader.drain_available()) {
      REQUIRE(ends == 0);
      for (const FrameView& frame : delivery.frames)
        REQUIRE(frame.position == Position{next++});
      if (delivery.ended) {
        ++ends;
        CHECK(delivery.ended->assigned == next);
      }
    }
    CHECK(ends == 1);
    CHECK(next == accepted);
    const PipeLedger ledger = endpoint.ledger();
    CHECK(ledger.assigned == accepted);
    CHECK(ledger.in_mux == 0);
    CHECK(ledger.refused.total() == refused);
    CHECK(ledger.balanced());
  }
}

TEST_CASE("producers_that_outlive_their_endpoint_are_refused") {
  auto endpoint = std::make_unique<DatastreamEndpoint>(stream_id);
  const auto out = endpoint->producer();
  const ChannelId log = out.register_channel("log", TextStream{});
  endpoint.reset();
  CHECK(!out.submit_text(log, "late"));
  CHECK(!out.submit_bytes_owned(log, std::string(100'000, 'x')));
  CHECK(out.try_register_channel("new", Bytes{}).error().kind == CatalogError::Kind::stream_ended);
  CHECK(out.find_channel("log") == log);
}

TEST_CASE("queued_events_are_readable_after_the_endpoint_is_destroyed") {
  auto endpoint = std::make_unique<DatastreamEndpoint>(stream_id);
  const auto out =
      endpoint->producer(); // keeps the pipe alive, and the reader is told all the same
  auto reader = endpoint->subscribe("reader");
  const ChannelId log = out.register_channel("log", TextStream{});
  out.submit_text(log, "x");
  endpoint->tick();
  endpoint.reset();
  const auto delivery = reader.recv();
  REQUIRE(delivery);
  delivery->each([](const FrameView& frame) { CHECK(frame.name == "log"); });
  CHECK(reader.recv().error() == RecvError::disconnected);
}

TEST_CASE("destroying_the_endpoint_ends_a_wait") {
  auto endpoint = std::make_unique<DatastreamEndpoint>(stream_id);
  auto reader = endpoint->subscribe("reader");
  std::jthread destroyer([&] { endpoint.reset(); });
  CHECK(reader.recv().error() == RecvError::disconnected);
}

TEST_CASE("a_health_record_describes_the_moment_before_its_own_submission") {
  DatastreamEndpoint endpoint(stream_id, {.mux = {.frames = 2}});
  auto reader = endpoint.subscribe("reader", SubscriptionRequest::all(), {.frames = 1});
  const auto out = endpoint.producer();
  out.submit_text(ChannelId{9}, "a");
  out.submit_text(ChannelId{9}, "b");
  out.submit_text(ChannelId{9}, "refused");
  endpoint.tick();
  out.submit_text(ChannelId{9}, "queued");
  const PipeLedger before = endpoint.ledger();
  CHECK(before.refused.total() == 1);
  CHECK(before.in_mux == 1);
  CHECK(before.fanout.subscribers.at(0).counts.dropped == 1);
  CHECK(endpoint.submit_health());
  reader.drain_available();
  auto second = endpoint.subscribe("second");
  endpoint.tick();
  const auto delivery = second.try_recv();
  REQUIRE(delivery);
  const FrameView frame = delivery->frames.back();
  CHECK(frame.channel == out.find_channel(health_channel));
  CHECK(frame.payload == encode_health(before));
  CHECK(endpoint.catalog()->find_channel(stream_id, health_channel)->content ==
        ChannelContent(JsonRecord{health_channel}));
}

TEST_CASE("a_health_record_goes_to_the_channel_of_its_name_whatever_its_content") {
  DatastreamEndpoint endpoint(stream_id);
  endpoint.register_channel("other", Bytes{});
  const ChannelId health = endpoint.register_channel(health_channel, TextStream{});
  CHECK(endpoint.submit_health());
  std::vector<FrameBatch> batches;
  endpoint.drain_directly(batches);
  CHECK(batches.at(0).front().channel == health);
}

TEST_CASE("health_records_come_by_themselves_whenever_their_interval_has_passed") {
  DatastreamEndpoint never(stream_id);
  never.tick();
  CHECK(never.ledger().assigned == 0);
  DatastreamEndpoint often(stream_id, {.health_interval = 1ms});
  for (int record = 0; record < 3; ++record)
    CHECK(eventually([&] { return often.tick().drained > 0; }));
  CHECK(often.producer().find_channel(health_channel));
}

TEST_CASE("intervals_of_health_records_that_are_absurd_are_cut_and_bring_none") {
  for (const auto interval : {std::chrono::milliseconds::max(), std::chrono::milliseconds::min()}) {
    DatastreamEndpoint endpoint(stream_id, {.health_interval = interval});
    for (int i = 0; i < 3; ++i)
      endpoint.tick();
    CHECK(endpoint.ledger().assigned == 0);
  }
}

TEST_CASE("health_records_come_however_many_subscribers_of_whatever_name_there_are") {
  DatastreamEndpoint endpoint(stream_id);
  auto one = endpoint.subscribe(std::string(20U << 20U, 'x'));
  std::vector<DatastreamSubscription> others;
  for (std::size_t i = 0; i < 2 * defaults::health_subscribers; ++i)
    others.push_back(endpoint.subscribe("reader"));
  CHECK(endpoint.submit_health());
  CHECK(endpoint.ledger().refused == RefusedCounts{});
}

TEST_CASE("the_waker_of_an_endpoint_is_called_for_a_frame_and_for_a_new_channel") {
  DatastreamEndpoint endpoint(stream_id);
  int calls = 0;
  endpoint.set_waker([&] { ++calls; });
  endpoint.tick();
  REQUIRE(endpoint.try_idle());
  const auto out = endpoint.producer();
  const ChannelId log = out.register_channel("log", TextStream{});
  CHECK(calls == 1);
  CHECK(!endpoint.try_idle()); // subscribers have not been told yet
  CHECK(calls == 1);
  endpoint.tick();
  REQUIRE(endpoint.try_idle());
  out.register_channel("log", TextStream{}); // nothing new
  CHECK(calls == 1);
  out.submit_text(log, "x");
  out.submit_text(log, "y");
  CHECK(calls == 2);
  CHECK(!endpoint.try_idle());
}

TEST_CASE("a_waker_may_call_the_endpoint") {
  DatastreamEndpoint endpoint(stream_id);
  std::uint64_t drained = 0;
  endpoint.set_waker([&] { drained += endpoint.tick().drained; });
  endpoint.tick();
  endpoint.register_channel("a", Bytes{});
  endpoint.try_idle(); // finds the channel undeclared; the waker is not called from here
  endpoint.tick();
  REQUIRE(endpoint.try_idle());
  endpoint.producer().submit_bytes(ChannelId{1}, "x");
  CHECK(drained == 1);
}

TEST_CASE("a_waker_may_tick_when_that_submits_a_health_record_that_calls_for_it") {
  DatastreamEndpoint endpoint(stream_id, {.mux = {.frames = 64, .bytes = 800}});
  int calls = 0;
  endpoint.set_waker([&] {
    if (++calls == 1)
      CHECK(endpoint.submit_health()); // fills the mux half, as one that is due does
    endpoint.tick();
  });
  endpoint.tick();
  REQUIRE(endpoint.try_idle());
  CHECK(endpoint.producer().submit_bytes(ChannelId{1}, "x"));
  CHECK(calls == 2);
  CHECK(endpoint.ledger().assigned == 2);
}

TEST_CASE("without_a_waker_nobody_is_called_any_more") {
  DatastreamEndpoint endpoint(stream_id);
  int calls = 0;
  endpoint.set_waker([&] { ++calls; });
  endpoint.tick();
  REQUIRE(endpoint.try_idle());
  endpoint.set_waker(nullptr);
  endpoint.producer().submit_bytes(ChannelId{1}, "x");
  CHECK(calls == 0);
}

TEST_CASE("no_wake_up_is_lost_when_channels_and_frames_come_from_many_threads") {
  DatastreamEndpoint endpoint(stream_id);
  std::counting_semaphore<> wakes{0};
  endpoint.set_waker([&] { wakes.release(); });
  Pushed pushed(endpoint, {.frames = 1U << 20U});
  constexpr std::uint32_t threads = 3;
  constexpr std::uint32_t each = 150;
  std::vector<std::jthread> owners;
  for (std::uint32_t t = 0; t < threads; ++t)
    owners.emplace_back([t, out = endpoint.producer()] {
      for (std::uint32_t i = 0; i < each; ++i) {
        const auto name = std::to_string(t) + "." + std::to_string(i);
        const ChannelId channel = out.register_channel(name, TextStream{});
        if (i % 2)
          out.submit_text(channel, name);
        std::this_thread::yield();
      }
    });
  std::set<std::uint32_t> declared;
  std::uint64_t frames = 0;
  bool in_order = true;
  std::size_t read = 0;
  bool lost = false;
  const auto complete = [&] {
    return declared.size() == threads * each && frames == threads * each / 2;
  };
  while (!complete() && !lost) {
    endpoint.tick();
    const auto inbox = pushed.inbox->all();
    for (; read < inbox.size(); ++read) {
      inbox[read].each_event([&](const DatastreamEvent& event) {
        if (const auto* channel = std::get_if<ChannelDeclared>(&event)) {
          in_order &= declared.insert(channel->descriptor.id.value).second;
        } else if (const auto* frame = std::get_if<FrameDelivery>(&event)) {
          ++frames;
          in_order &= declared.contains(frame->channel.channel.value);
        }
      });
      endpoint.acknowledge(pushed.start.id, inbox[read].sequence);
    }
    if (!complete() && pushed.inbox->size() == read && endpoint.try_idle())
      lost = !wakes.try_acquire_for(patience);
  }
  CHECK(!lost);
  CHECK(in_order);
  CHECK(frames == threads * each / 2);
  CHECK(endpoint.ledger().balanced());
}

TEST_CASE("bursts_between_two_looks_are_in_the_counters_though_the_mux_is_empty_at_each") {
  DatastreamEndpoint endpoint(stream_id, {.mux = {.frames = 100}});
  std::uint64_t refused = 0;
  for (int burst = 0; burst < 50; ++burst) {
    for (int i = 0; i < 200; ++i)
      refused += endpoint.producer().submit_text({1}, "x") ? 0 : 1;
    endpoint.tick();
    CHECK(endpoint.ledger().in_mux == 0);
  }
  const PipeLedger ledger = endpoint.ledger();
  CHECK(refused == 5000);
  CHECK(ledger.refused.mux_frames_full == 5000);
  CHECK(ledger.submitted() == 10'000);
  CHECK(ledger.balanced());
}
