#include "pipe_support.hpp"

#include <datastream/ingest/consumer.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <new>
#include <set>
#include <thread>

using namespace datastream;
using namespace pipe_test;

namespace {

const StreamId other{"other", {1}};

ChannelDescriptor channel(const StreamId& stream, std::uint32_t id, std::string name) {
  return {stream, ChannelId{id}, std::move(name), std::nullopt, TextStream{}};
}

using Positions = std::vector<std::uint64_t>;

/// A pushed subscriber of a fanout, and what it received.
struct Pushed {
  Pushed(DeliveryFanout& fanout, SubscriberCapacity capacity,
         SubscriptionRequest request = SubscriptionRequest::all())
      : start(fanout.attach("pushed", std::move(request), capacity,
                            std::make_unique<InboxSink>(inbox))) {}
  std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
  SubscriptionStart start;
};

SubscriberCounts counts_of(const DeliveryFanout& fanout, SubscriptionId id) {
  for (const SubscriberLedger& subscriber : fanout.ledger().subscribers)
    if (subscriber.id == id)
      return subscriber.counts;
  return {};
}

} // namespace

TEST_CASE("slow_subscriber_drops_without_blocking_fast_subscriber") {
  DeliveryFanout fanout;
  auto slow = fanout.subscribe("slow", SubscriptionRequest::all(), {.frames = 1});
  auto fast = fanout.subscribe("fast", SubscriptionRequest::all(), {.frames = 8});
  const EndpointTick tick = fanout.publish(batch_of(stream_id, 0, 4));
  CHECK(tick ==
        EndpointTick{.drained = 4, .delivered = 5, .dropped_for_subscribers = 3, .subscribers = 2});
  const FanoutLedger ledger = fanout.ledger();
  REQUIRE(ledger.subscribers.size() == 2);
  CHECK(ledger.subscribers[0].name == "slow");
  CHECK(ledger.subscribers[0].counts.dropped == 3);
  CHECK(ledger.subscribers[1].counts.dropped == 0);
  CHECK(ledger.balanced());
  CHECK(positions_of(slow.drain_available()) == Positions{0});
  CHECK(positions_of(fast.drain_available()) == Positions{0, 1, 2, 3});
}

TEST_CASE("delivery_fanout_can_publish_collector_deliveries_without_a_mux") {
  DeliveryFanout fanout;
  REQUIRE(fanout.catalog()->declare_channel(channel(other, 3, "theirs")));
  auto reader = fanout.subscribe("reader");
  CHECK(reader.snapshot().channels.size() == 1);
  const Frame frame{ChannelId{3}, Position{17}, "bytes"};
  CHECK(fanout.publish(FrameBatch::copy_of(other, {&frame, 1})).delivered == 1);
  const auto events = events_of(reader.drain_available());
  CHECK(events ==
        std::vector<DatastreamEvent>{FrameDelivery{{other, ChannelId{3}}, Position{17}, "bytes"}});
}

TEST_CASE("nothing_published_is_an_all_zero_tick_but_for_the_subscribers") {
  DeliveryFanout fanout;
  CHECK(fanout.publish(FrameBatch()) == EndpointTick{});
  CHECK(fanout.publish(std::span<const FrameBatch>()) == EndpointTick{});
  CHECK(fanout.publish(batch_of(stream_id, 0, 3)) == EndpointTick{.drained = 3});
  auto reader = fanout.subscribe("reader");
  CHECK(fanout.publish(FrameBatch()) == EndpointTick{.subscribers = 1});
  CHECK(fanout.subscriber_count() == 1);
}

TEST_CASE("a_batch_that_fits_is_shared_and_not_copied") {
  DeliveryFanout fanout;
  auto one = fanout.subscribe("one");
  auto two = fanout.subscribe("two");
  const FrameBatch batch = batch_of(stream_id, 0, 10);
  fanout.publish(batch);
  CHECK(one.try_recv()->frames.block().get() == batch.block().get());
  CHECK(two.try_recv()->frames.block().get() == batch.block().get());
}

TEST_CASE("what_fits_of_a_batch_is_delivered_as_its_prefix") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 5});
  CHECK(fanout.publish(batch_of(stream_id, 0, 3)).delivered == 3);
  CHECK(fanout.publish(batch_of(stream_id, 3, 3)).delivered == 2);
  CHECK(fanout.publish(batch_of(stream_id, 6, 3)).delivered == 0);
  CHECK(reader.try_recv()->frames.size() == 3);
  CHECK(fanout.publish(batch_of(stream_id, 9, 3)).delivered == 3);
  const auto rest = reader.drain_available();
  REQUIRE(rest.size() == 2);
  CHECK(positions_of(rest) == Positions{3, 4, 9, 10, 11});
  CHECK(rest[0].dropped == 0);
  CHECK(rest[1].dropped == 4); // those lost before it: 5, 6, 7, 8
  CHECK(reader.counts() == SubscriberCounts{.offered = 12, .acknowledged = 8, .dropped = 4});
}

TEST_CASE("a_capacity_of_zero_frames_is_one") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 0});
  CHECK(fanout.publish(batch_of(stream_id, 0, 2)).delivered == 1);
}

TEST_CASE("a_default_subscription_holds_exactly_1024_frames") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  CHECK(fanout.publish(batch_of(stream_id, 0, 1025, "")).delivered == 1024);
  CHECK(fanout.publish(batch_of(stream_id, 1025, 1, "")).delivered == 0);
}

TEST_CASE("a_default_subscriber_pins_exactly_64_mebibytes") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  const std::string mebibyte(1U << 20U, 'x');
  for (std::uint64_t i = 0; i < 64; ++i)
    REQUIRE(fanout.publish(batch_of(stream_id, i, 1, mebibyte)).delivered == 1);
  CHECK(fanout.publish(batch_of(stream_id, 64, 1, "x")).delivered == 0);
  REQUIRE(reader.try_recv());
  CHECK(fanout.publish(batch_of(stream_id, 65, 1, mebibyte)).delivered == 1);
  CHECK(reader.counts().dropped == 1);
}

TEST_CASE("bytes_bound_a_subscriber_exactly_and_count_whole_blocks") {
  DeliveryFanout fanout;
  auto reader =
      fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 100, .bytes = 100});
  CHECK(fanout.publish(batch_of(stream_id, 0, 4, std::string(10, 'x'))).delivered == 4);
  // Of 80 bytes in one block 60 fit; the slice is copied, because it would pin all 80.
  CHECK(fanout.publish(batch_of(stream_id, 4, 8, std::string(10, 'x'))).delivered == 6);
  CHECK(fanout.publish(batch_of(stream_id, 12, 1, "x")).delivered == 0);
  CHECK(fanout.publish(batch_of(stream_id, 13, 1, "")).delivered == 1); // pins nothing
  CHECK(reader.try_recv()->frames.size() == 4);
  CHECK(fanout.publish(batch_of(stream_id, 14, 5, std::string(10, 'x'))).delivered == 4);
  CHECK(positions_of(reader.drain_available()) == Positions{4, 5, 6, 7, 8, 9, 13, 14, 15, 16, 17});
  CHECK(fanout.ledger().balanced());
}

TEST_CASE("a_slice_of_a_much_larger_block_is_copied_out_of_it") {
  DeliveryFanout fanout;
  auto reader =
      fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 2, .bytes = 1U << 20U});
  const FrameBatch batch = batch_of(stream_id, 0, 100, std::string(100, 'x'));
  CHECK(fanout.publish(batch).delivered == 2);
  const auto delivery = reader.try_recv();
  CHECK(delivery->frames.pinned_bytes() == 200);
}

TEST_CASE("frames_of_an_ended_stream_are_refused_and_counted") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  fanout.publish(batch_of(stream_id, 0, 1));
  fanout.end_stream(stream_id, 1);
  fanout.end_stream(stream_id, 9);
  CHECK(fanout.publish(batch_of(stream_id, 1, 2)).drained == 0);
  CHECK(fanout.publish(batch_of(other, 0, 1)).delivered == 1);
  CHECK(fanout.ledger().frames_after_end == 2);
  const auto deliveries = reader.drain_available();
  REQUIRE(deliveries.size() == 3);
  CHECK(deliveries[1].ended == StreamEnd{stream_id, 1});
  CHECK(only<StreamEnded>(events_of(deliveries)).size() == 1);
  CHECK(fanout.ledger().balanced());
}

TEST_CASE("a_stream_is_declared_before_anything_of_it_also_when_it_only_ends") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  fanout.publish(batch_of(stream_id, 0, 1));
  const auto frame = events_of(reader.drain_available());
  REQUIRE(frame.size() == 2);
  CHECK(std::get<StreamDeclared>(frame[0]).descriptor.stream == stream_id);
  CHECK(std::holds_alternative<FrameDelivery>(frame[1]));
  fanout.end_stream(other, 0);
  const auto end = events_of(reader.drain_available());
  REQUIRE(end.size() == 2);
  CHECK(std::get<StreamDeclared>(end[0]).descriptor.stream == other);
  CHECK(std::get<StreamEnded>(end[1]).stream == other);
}

TEST_CASE("a_subscription_names_the_first_position_of_every_stream_that_it_will_be_offered") {
  DeliveryFanout fanout;
  fanout.publish(batch_of(stream_id, 0, 3));
  fanout.publish(batch_of(other, 40, 2));
  fanout.expect_next(stream_id, Position{9});
  fanout.expect_next(stream_id, Position{2});
  auto reader = fanout.subscribe("reader", {source_filter::Node{"nobody"}, channel_filter::All{}});
  CHECK(reader.snapshot() == DatastreamSnapshot{});
  CHECK(reader.starts() ==
        std::vector<StreamStart>{{stream_id, Position{9}}, {other, Position{42}}});
}

TEST_CASE("a_subscriber_is_told_where_a_stream_begins_that_the_fanout_meets_later") {
  DeliveryFanout fanout;
  Pushed pushed(fanout, {});
  auto pulled = fanout.subscribe("pulled", {}, {.frames = 2});
  CHECK(pulled.starts().empty());
  fanout.publish(batch_of(stream_id, 5, 3)); // nobody said that it would begin elsewhere
  fanout.expect_next(other, Position{40});   // its collector missed what came before 43
  fanout.publish(batch_of(other, 43, 1));
  const std::vector<StreamStart> expected{{stream_id, Position{5}}, {other, Position{40}}};
  for (auto deliveries : {pushed.inbox->all(), pulled.drain_available()}) {
    std::vector<StreamStart> told;
    for (const EventBatch& delivery : deliveries) {
      for (const StreamStart& start : delivery.starts)
        told.push_back(start);
      const auto& frames = delivery.frames;
      CHECK((frames.empty() ||
             std::ranges::find(told, frames.stream(), &StreamStart::stream) != told.end()));
    }
    CHECK(told == expected);
  }
  fanout.publish(batch_of(other, 44, 1));
  CHECK(pushed.inbox->all().back().starts.empty());
}

TEST_CASE("a_store_behind_two_fanouts_knows_what_each_of_them_lost") {
  DeliveryFanout first;
  first.expect_next(stream_id, Position{10});
  auto collector = first.subscribe("collector", {}, {.frames = 4});
  DeliveryFanout second;
  auto reader = second.subscribe("reader", {}, {.frames = 3});
  for (const StreamStart& start : collector.starts())
    second.expect_next(start.stream, start.from);
  first.publish(batch_of(stream_id, 10, 6)); // the last two of these are dropped
  for (const EventBatch& delivery : collector.drain_available())
    second.publish(delivery.frames); // the last one of these
  first.end_stream(stream_id, 16);
  Consumer consumer;
  for (const EventBatch& delivery : reader.drain_available())
    consumer.accept(delivery);
  second.end_stream(stream_id, 16);
  for (const EventBatch& delivery : reader.drain_available())
    consumer.accept(delivery);
  const IngestLedger ledger = consumer.store().find(stream_id)->ledger();
  CHECK(ledger.from == Position{10});
  CHECK(ledger.stored == 3);
  CHECK(ledger.missing() == collector.counts().dropped + reader.counts().dropped);
  CHECK(ledger.balanced());
}

TEST_CASE("requests_shape_the_snapshot_and_filter_nothing_that_comes_later") {
  DeliveryFanout fanout;
  REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, 1, "early.left.out")));
  REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, 2, "wanted")));
  auto reader = fanout.subscribe("r", {source_filter::All{}, channel_filter::Name{"wanted"}});
  REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, 3, "late.not.asked.for")));
  std::vector<Frame> frames;
  for (std::uint32_t id : {1U, 2U, 3U, 4U})
    frames.push_back({ChannelId{id}, Position{id}, "x"});
  fanout.publish(FrameBatch::copy_of(stream_id, frames));
  CHECK(reader.snapshot().channels.size() == 1);
  const auto deliveries = reader.drain_available();
  CHECK(declared_names(deliveries) == std::vector<std::string>{"late.not.asked.for"});
  CHECK(positions_of(deliveries) == Positions{1, 2, 3, 4});
  std::vector<std::string> names;
  for (const EventBatch& delivery : deliveries)
    delivery.each([&](const FrameView& frame) { names.emplace_back(frame.name); });
  CHECK(names == std::vector<std::string>{"", "wanted", "late.not.asked.for", ""});
}

TEST_CASE("a_delivery_does_not_know_names_that_were_declared_after_it") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  fanout.publish(batch_of(stream_id, 0, 1));
  const auto early = reader.try_recv();
  REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, 1, "now known")));
  early->each([](const FrameView& frame) { CHECK(frame.name.empty()); });
  fanout.publish(batch_of(stream_id, 1, 1));
  reader.try_recv()->each([](const FrameView& frame) { CHECK(frame.name == "now known"); });
}

TEST_CASE("many_channels_in_one_batch_keep_their_own_names") {
  DeliveryFanout fanout;
  std::vector<Frame> frames;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t id = i * 7 % 40 + 1;
    fanout.catalog()->declare_channel(channel(stream_id, id, std::to_string(id))).value();
    frames.push_back({ChannelId{id}, Position{i}, ""});
  }
  auto reader = fanout.subscribe("reader");
  fanout.publish(FrameBatch::copy_of(stream_id, frames));
  std::size_t seen = 0;
  reader.try_recv()->each([&](const FrameView& frame) {
    CHECK(frame.name == std::to_string(frame.channel.value));
    ++seen;
  });
  CHECK(seen == 100);
}

TEST_CASE("full_and_disconnected_subscribers_do_not_affect_others") {
  DeliveryFanout fanout;
  auto full = fanout.subscribe("full", SubscriptionRequest::all(), {.frames = 1});
  auto gone = std::make_unique<DatastreamSubscription>(fanout.subscribe("gone"));
  auto healthy = fanout.subscribe("healthy");
  CHECK(fanout.publish(batch_of(stream_id, 0, 2)).delivered == 5);
  gone.reset();
  CHECK(fanout.subscriber_count() == 2);
  CHECK(fanout.ledger().departed == SubscriberCounts{.offered = 2, .abandoned = 2});
  CHECK(fanout.publish(batch_of(stream_id, 2, 2)) ==
        EndpointTick{.drained = 2, .delivered = 2, .dropped_for_subscribers = 2, .subscribers = 2});
  CHECK(positions_of(healthy.drain_available()) == Positions{0, 1, 2, 3});
  CHECK(fanout.ledger().balanced());
}

TEST_CASE("pushed_deliveries_are_numbered_from_one_and_released_by_acknowledgements") {
  DeliveryFanout fanout;
  Pushed pushed(fanout, {.frames = 4});
  CHECK(pushed.inbox->size() == 0);
  for (std::uint64_t i = 0; i < 3; ++i)
    fanout.publish(batch_of(stream_id, 2 * i, 2));
  auto got = pushed.inbox->all();
  REQUIRE(got.size() == 2);
  CHECK(got[0].sequence == 1);
  CHECK(got[1].sequence == 2);
  CHECK(got[0].subscription == pushed.start.id);
  CHECK(positions_of(got) == Positions{0, 1, 2, 3});
  CHECK(counts_of(fanout, pushed.start.id) ==
        SubscriberCounts{.offered = 6, .dropped = 2, .outstanding = 4});

  CHECK(fanout.acknowledge(pushed.start.id, 2)); // cumulative
  CHECK(counts_of(fanout, pushed.start.id) ==
        SubscriberCounts{.offered = 6, .acknowledged = 4, .dropped = 2});
  got = pushed.inbox->all();
  REQUIRE(got.size() == 3); // there is room again: the count of drops follows by itself
  CHECK(got[2].sequence == 3);
  CHECK(got[2].frames.empty());
  CHECK(got[2].dropped == 2);
}

TEST_CASE("more_than_its_capacity_is_never_outstanding_at_a_pushed_subscriber") {
  DeliveryFanout fanout;
  Pushed pushed(fanout, {.frames = 7, .bytes = 50});
  std::uint64_t position = 0;
  std::uint64_t acknowledged = 0;
  for (std::size_t step = 0; step < 200; ++step) {
    const std::size_t count = step * 5 % 9 + 1;
    fanout.publish(batch_of(stream_id, position, count, std::string(step * 7 % 23, 'x')));
    position += count;
    if (step % 3 == 2)
      CHECK(
          fanout.acknowledge(pushed.start.id, acknowledged = pushed.inbox->all().back().sequence));
    std::size_t frames = 0;
    std::size_t bytes = 0;
    for (const EventBatch& delivery : pushed.inbox->all())
      if (delivery.sequence > acknowledged) {
        frames += delivery.frames.size();
        bytes += delivery.frames.pinned_bytes();
      }
    const SubscriberCounts counts = counts_of(fanout, pushed.start.id);
    CHECK(frames <= 7);
    CHECK(bytes <= 50);
    CHECK(counts.outstanding == frames);
    CHECK(counts.balanced());
  }
}

TEST_CASE("stray_acknowledgements_change_nothing_and_are_counted") {
  DeliveryFanout fanout;
  Pushed pushed(fanout, {});
  auto pulled = fanout.subscribe("pulled");
  fanout.publish(batch_of(stream_id, 0, 2));
  fanout.publish(batch_of(stream_id, 2, 2));
  CHECK(!fanout.acknowledge(SubscriptionId{99}, 1));
  CHECK(!fanout.acknowledge(pulled.id(), 1));
  CHECK(!fanout.acknowledge(pushed.start.id, 0));
  CHECK(!fanout.acknowledge(pushed.start.id, 3));
  CHECK(fanout.ledger().stray_acknowledgements == 4);
  CHECK(fanout.acknowledge(pushed.start.id, 2));
  CHECK(!fanout.acknowledge(pushed.start.id, 1)); // backwards
  CHECK(fanout.ledger().stray_acknowledgements == 5);
  CHECK(counts_of(fanout, pushed.start.id) == SubscriberCounts{.offered = 4, .acknowledged = 4});
  CHECK(fanout.unsubscribe(pushed.start.id));
  CHECK(!fanout.acknowledge(pushed.start.id, 2));
}

TEST_CASE("at_most_one_notice_is_under_way_to_a_pushed_subscriber") {
  DeliveryFanout fanout;
  Pushed pushed(fanout, {.frames = 1});
  fanout.publish(batch_of(stream_id, 0, 1));
  for (std::uint32_t id = 1; id <= 5; ++id) { // no room in its queue: declarations need none
    REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, id, std::to_string(id))));
    fanout.publish(batch_of(stream_id, id, 1));
    fanout.refresh();
  }
  REQUIRE(pushed.inbox->size() == 2);
  CHECK(declared_names(pushed.inbox->all()) == std::vector<std::string>{"1"});
  CHECK(fanout.acknowledge(pushed.start.id, 2));
  REQUIRE(pushed.inbox->size() == 3);
  CHECK(declared_names(pushed.inbox->all()) == std::vector<std::string>{"1", "2", "3", "4", "5"});
  CHECK(pushed.inbox->all().back().dropped == 5);
  CHECK(fanout.acknowledge(pushed.start.id, 3));
  fanout.refresh();
  CHECK(pushed.inbox->size() == 3); // nothing is due any more
}

TEST_CASE("one_subscriber_can_be_told_what_it_lacks_and_no_other_with_it") {
  DeliveryFanout fanout;
  std::vector<Pushed> pushed;
  for (int i = 0; i < 100; ++i)
    pushed.emplace_back(fanout, SubscriberCapacity{});
  REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, 1, "log")));
  fanout.refresh(pushed[50].start.id);
  fanout.refresh(SubscriptionId{1000}); // nobody's
  for (std::size_t i = 0; i < pushed.size(); ++i)
    CHECK(pushed[i].inbox->size() == (i == 50 ? 1 : 0));
  CHECK(declared_names(pushed[50].inbox->all()) == std::vector<std::string>{"log"});
  fanout.refresh();
  for (const Pushed& each : pushed)
    CHECK(each.inbox->size() == 1);
}

TEST_CASE("a_pushed_subscriber_that_lost_everything_is_told_at_once") {
  DeliveryFanout fanout;
  Pushed pushed(fanout, {.frames = 10, .bytes = 4});
  fanout.publish(batch_of(stream_id, 0, 3));
  fanout.publish(batch_of(stream_id, 3, 3));
  REQUIRE(pushed.inbox->size() == 1);
  CHECK(pushed.inbox->all()[0].dropped == 3);
  CHECK(fanout.acknowledge(pushed.start.id, 1));
  REQUIRE(pushed.inbox->size() == 2);
  CHECK(pushed.inbox->all()[1].dropped == 6);
}

TEST_CASE("what_a_pushed_subscriber_had_not_acknowledged_is_abandoned_when_it_leaves") {
  DeliveryFanout fanout;
  Pushed pushed(fanout, {});
  fanout.publish(batch_of(stream_id, 0, 3));
  fanout.publish(batch_of(stream_id, 3, 4));
  fanout.acknowledge(pushed.start.id, 1);
  CHECK(fanout.unsubscribe(pushed.start.id));
  CHECK(!fanout.unsubscribe(pushed.start.id));
  CHECK(fanout.ledger().departed ==
        SubscriberCounts{.offered = 7, .acknowledged = 3, .abandoned = 4});
  fanout.publish(batch_of(stream_id, 7, 1));
  CHECK(pushed.inbox->size() == 2);
}

TEST_CASE("a_sink_is_destroyed_outside_the_locks_of_the_fanout") {
  struct Curious final : SubscriberSink {
    explicit Curious(std::function<void()> on_end) : at_end(std::move(on_end)) {}
    ~Curious() override { at_end(); }
    void deliver(EventBatch) override {}
    std::function<void()> at_end;
  };
  DeliveryFanout fanout;
  std::size_t left = 99;
  const auto start = fanout.attach("curious", {}, {}, std::make_unique<Curious>([&] {
                                     left = fanout.subscriber_count(); // would wait for ever
                                   }));
  CHECK(fanout.unsubscribe(start.id));
  CHECK(left == 0);
}

TEST_CASE("what_a_sink_finds_no_memory_for_is_dropped_and_counted_and_nothing_else_is_lost") {
  struct Failing final : SubscriberSink {
    Failing(std::shared_ptr<Inbox> to, const bool& shortage) : inbox(std::move(to)), no(shortage) {}
    void deliver(EventBatch batch) override {
      if (no)
        throw std::bad_alloc();
      inbox->put(std::move(batch));
    }
    std::shared_ptr<Inbox> inbox;
    const bool& no;
  };
  DeliveryFanout fanout;
  const auto inbox = std::make_shared<Inbox>();
  bool shortage = true;
  const auto start = fanout.attach("failing", {}, {}, std::make_unique<Failing>(inbox, shortage));
  fanout.publish(batch_of(stream_id, 0, 3));
  CHECK(inbox->size() == 0);
  CHECK(fanout.ledger().subscribers[0].counts == SubscriberCounts{.offered = 3, .dropped = 3});
  shortage = false;
  fanout.publish(batch_of(stream_id, 3, 2));
  REQUIRE(inbox->size() == 1);
  const EventBatch delivery = inbox->all()[0];
  CHECK(delivery.sequence == 1);
  CHECK(delivery.dropped == 3);
  CHECK(delivery.declarations.size() == 1);
  CHECK(delivery.starts == std::vector<StreamStart>{{stream_id, Position{0}}});
  CHECK(fanout.acknowledge(start.id, 1));
  CHECK(fanout.settled());
}

TEST_CASE("a_pushed_subscriber_that_came_after_an_end_is_told_of_it_before_any_frame") {
  DeliveryFanout fanout;
  fanout.publish(batch_of(stream_id, 0, 5));
  fanout.end_stream(stream_id, 5);
  Pushed refreshed(fanout, {});
  CHECK(refreshed.start.starts == std::vector<StreamStart>{{stream_id, Position{5}}});
  CHECK(refreshed.inbox->size() == 0);
  fanout.refresh();
  REQUIRE(refreshed.inbox->size() == 1);
  CHECK(refreshed.inbox->all()[0].ended == StreamEnd{stream_id, 5});

  Pushed published(fanout, {});
  fanout.publish(batch_of(other, 0, 1));
  const auto events = events_of(published.inbox->all());
  REQUIRE(events.size() == 3);
  CHECK(std::get<StreamDeclared>(events[0]).descriptor.stream == other);
  CHECK(std::get<StreamEnded>(events[1]).stream == stream_id);
  CHECK(std::holds_alternative<FrameDelivery>(events[2]));
}

TEST_CASE("ends_that_a_sink_finds_no_memory_for_are_told_later_each_once_and_in_order") {
  constexpr std::uint64_t lives = 60; // as many as may be under way
  DeliveryFanout fanout;
  for (std::uint64_t life = 0; life < lives; ++life)
    fanout.end_stream({"node", {life}}, life);

  /// Finds memory for so many deliveries at a time.
  struct Scarce final : SubscriberSink {
    Scarce(std::vector<EventBatch>& to, std::size_t& room) : taken(to), left(room) {}
    void deliver(EventBatch batch) override {
      if (left == 0)
        throw std::bad_alloc();
      --left;
      taken.push_back(std::move(batch));
    }
    std::vector<EventBatch>& taken;
    std::size_t& left;
  };
  std::vector<EventBatch> taken;
  std::size_t left = 0;
  fanout.attach("scarce", {}, {}, std::make_unique<Scarce>(taken, left));
  for (const std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{30}}) {
    const std::size_t before = taken.size();
    left = room;
    fanout.refresh();
    CHECK(taken.size() == before + room);
  }
  left = lives;
  fanout.refresh();
  REQUIRE(taken.size() == lives);
  for (std::uint64_t life = 0; life < lives; ++life) {
    CHECK(taken[life].sequence == life + 1);
    CHECK(taken[life].ended == StreamEnd{{"node", {life}}, life});
  }
}

TEST_CASE("subscribers_may_leave_in_any_order") {
  DeliveryFanout fanout;
  std::vector<DatastreamSubscription> readers;
  for (int i = 0; i < 100; ++i)
    readers.push_back(fanout.subscribe("reader"));
  std::set<std::uint64_t> left;
  for (std::uint64_t i = 0; i < readers.size(); ++i)
    left.insert(i + 1);
  for (std::uint64_t step = 0; step < readers.size(); ++step) {
    const std::uint64_t leaving = step * 37 % readers.size();
    readers[leaving].unsubscribe();
    left.erase(leaving + 1);
    CHECK_FALSE(fanout.unsubscribe(SubscriptionId{leaving + 1}));
    const EndpointTick tick = fanout.publish(batch_of(stream_id, step, 1));
    CHECK(tick.delivered == left.size());
    std::set<std::uint64_t> known;
    for (const SubscriberLedger& subscriber : fanout.ledger().subscribers)
      known.insert(subscriber.id.value);
    CHECK(known == left);
  }
  CHECK(fanout.ledger().balanced());
}

TEST_CASE("declarations_and_ends_are_in_no_count") {
  DeliveryFanout fanout;
  Pushed pushed(fanout, {});
  auto pulled = fanout.subscribe("pulled");
  REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, 1, "a")));
  fanout.refresh();
  fanout.end_stream(stream_id, 0);
  CHECK(pulled.drain_available().size() == 1);
  for (std::uint64_t i = 1; i <= pushed.inbox->size(); ++i)
    CHECK(fanout.acknowledge(pushed.start.id, i));
  CHECK(pulled.counts() == SubscriberCounts{});
  CHECK(counts_of(fanout, pushed.start.id) == SubscriberCounts{});
}

TEST_CASE("subscriptions_are_numbered_from_one_and_names_need_not_be_unique") {
  DeliveryFanout fanout;
  auto one = fanout.subscribe("same");
  auto two = fanout.subscribe("same");
  CHECK(one.id() == SubscriptionId{1});
  CHECK(two.id() == SubscriptionId{2});
  CHECK(one.name() == two.name());
}

TEST_CASE("declarations_reach_every_subscriber_exactly_once_while_channels_appear") {
  DeliveryFanout fanout;
  fanout.catalog()->declare_stream({stream_id, std::nullopt, StreamOrigin::RemoteNode});
  constexpr std::uint32_t channels = 300;
  std::atomic<bool> done = false;
  std::jthread owner([&] { // declares a channel, then publishes a frame of it
    for (std::uint32_t id = 1; id <= channels; ++id) {
      fanout.catalog()->declare_channel(channel(stream_id, id, std::to_string(id))).value();
      const Frame frame{ChannelId{id}, Position{id}, "x"};
      fanout.publish(FrameBatch::copy_of(stream_id, {&frame, 1}));
    }
    done = true;
  });
  std::vector<std::jthread> readers;
  std::atomic<int> wrong = 0;
  std::atomic<int> lives = 0;
  for (int t = 0; t < 2; ++t)
    readers.emplace_back([&] {
      bool last = false;
      while (!last) {
        last = done;
        auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 8});
        std::set<std::uint32_t> known;
        for (const ChannelDescriptor& seen : reader.snapshot().channels)
          known.insert(seen.id.value);
        for (int i = 0; i < 50; ++i)
          while (auto delivery = reader.try_recv())
            delivery->each_event([&](const DatastreamEvent& event) {
              if (const auto* declared = std::get_if<ChannelDeclared>(&event))
                wrong += known.insert(declared->descriptor.id.value).second ? 0 : 1;
              else if (const auto* frame = std::get_if<FrameDelivery>(&event))
                wrong += known.contains(frame->channel.channel.value) ? 0 : 1;
            });
        if (last)
          wrong += known.size() == channels ? 0 : 1;
        ++lives;
      }
    });
  owner.join();
  readers.clear();
  CHECK(wrong == 0);
  CHECK(lives >= 2);
  CHECK(fanout.ledger().balanced());
}

TEST_CASE("who_joins_after_a_hundred_thousand_channels_is_told_of_each_once") {
  DeliveryFanout fanout;
  constexpr std::uint32_t before = 100'000;
  fanout.catalog()->declare_stream({stream_id, {}, StreamOrigin::RemoteNode});
  const auto declare = [&](std::uint32_t id) {
    REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, id, std::to_string(id))));
  };
  for (std::uint32_t id = 1; id <= before; ++id)
    declare(id);
  auto reader = fanout.subscribe("late");
  for (std::uint32_t id = before + 1; id <= before + 100; ++id)
    declare(id);
  std::set<std::uint32_t> told;
  for (const ChannelDescriptor& known : reader.snapshot().channels)
    CHECK(told.insert(known.id.value).second);
  CHECK(told.size() == before);
  for (const DatastreamEvent& event : events_of(reader.drain_available()))
    if (const auto* declared = std::get_if<ChannelDeclared>(&event))
      CHECK(told.insert(declared->descriptor.id.value).second);
  CHECK(told.size() == before + 100);
}

TEST_CASE("what_is_declared_while_somebody_subscribes_is_told_before_its_frames") {
  for (const bool refreshed : {false, true}) {
    CAPTURE(refreshed);
    DeliveryFanout fanout;
    REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, 1, "before")));
    auto to_push = fanout.prepare("pushed", SubscriptionRequest::all(), {});
    auto to_pull = fanout.prepare("pulled", SubscriptionRequest::all(), {});
    REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, 2, "meanwhile")));
    const auto inbox = std::make_shared<Inbox>();
    const auto start = fanout.attach(std::move(to_push), std::make_unique<InboxSink>(inbox));
    auto pulled = fanout.subscribe(std::move(to_pull));
    for (const DatastreamSnapshot& snapshot : {start.snapshot, pulled.snapshot()}) {
      REQUIRE(snapshot.channels.size() == 1);
      CHECK(snapshot.channels[0].name == "before");
    }
    if (refreshed)
      fanout.refresh();
    fanout.publish(batch_of(stream_id, 0, 1));
    for (const auto& deliveries : {inbox->all(), pulled.drain_available()}) {
      const auto events = events_of(deliveries);
      REQUIRE(events.size() == 2);
      CHECK(std::get<ChannelDeclared>(events[0]).descriptor.name == "meanwhile");
      CHECK(std::holds_alternative<FrameDelivery>(events[1]));
    }
  }
}

TEST_CASE("a_pushed_subscriber_is_told_of_ends_only_as_fast_as_it_acknowledges") {
  DeliveryFanout fanout;
  constexpr std::uint64_t streams = 1000;
  const auto end = [&](std::uint64_t life) { fanout.end_stream({"n", {life}}, life); };
  for (std::uint64_t life = 1; life <= streams; ++life)
    end(life);
  Pushed late(fanout, {.frames = 1});
  fanout.refresh();
  Pushed there(fanout, {.frames = 1});
  fanout.publish(batch_of(stream_id, 0, 1)); // frames do not wait for what is told of others
  for (std::uint64_t life = streams + 1; life <= 2 * streams; ++life)
    end(life);
  for (const Pushed* each : {&late, &there}) {
    std::vector<EventBatch> told = each->inbox->all();
    CHECK(told.size() == 64 + 1);
    CHECK_FALSE(fanout.settled());
    while (fanout.acknowledge(each->start.id, told.back().sequence))
      told = each->inbox->all();
    std::uint64_t life = 0;
    for (const EventBatch& delivery : told)
      if (delivery.ended)
        CHECK(delivery.ended == StreamEnd{{"n", {++life}}, life});
    CHECK(life == 2 * streams);
  }
  CHECK(fanout.settled());
}

TEST_CASE("a_forgotten_stream_leaves_its_counts_and_what_is_queued_and_begins_anew") {
  DeliveryFanout fanout;
  REQUIRE(fanout.catalog()->declare_channel(channel(stream_id, 1, "log")));
  auto pulled = fanout.subscribe("pulled");
  fanout.publish(batch_of(stream_id, 0, 3));
  fanout.end_stream(stream_id, 3);
  fanout.publish(batch_of(stream_id, 3, 1)); // after its end
  const FanoutLedger before = fanout.ledger();
  CHECK(fanout.forget(stream_id));
  CHECK_FALSE(fanout.forget(stream_id));
  CHECK(fanout.ledger() == before);
  CHECK_FALSE(fanout.catalog()->find_stream(stream_id));
  CHECK(fanout.subscribe("late").starts().empty());
  const auto queued = pulled.drain_available();
  CHECK(positions_of(queued) == Positions{0, 1, 2});
  CHECK(queued.back().ended == StreamEnd{stream_id, 3});

  CHECK(fanout.publish(batch_of(stream_id, 9, 1)).delivered == 1);
  const auto anew = pulled.drain_available();
  REQUIRE(anew.size() == 1);
  CHECK(anew[0].starts == std::vector<StreamStart>{{stream_id, Position{9}}});
  CHECK(only<StreamDeclared>(events_of(anew)).size() == 1);
  CHECK(fanout.ledger().balanced());
  CHECK(fanout.ledger().frames_after_end == 1);
}

TEST_CASE("what_is_due_of_a_forgotten_stream_is_told_no_more") {
  DeliveryFanout fanout;
  constexpr std::uint64_t streams = 100;
  for (std::uint64_t life = 1; life <= streams; ++life)
    fanout.end_stream({"n", {life}}, life);
  Pushed late(fanout, {});
  fanout.refresh();
  for (std::uint64_t life = 1; life <= streams; ++life)
    CHECK(fanout.forget({"n", {life}}));
  CHECK(late.inbox->size() == 64);
  CHECK(fanout.acknowledge(late.start.id, 64));
  CHECK(late.inbox->size() == 64);
  CHECK(fanout.settled());
}

TEST_CASE("names_are_safe_to_read_while_their_streams_are_forgotten") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 1U << 20U});
  std::atomic<bool> done = false;
  std::jthread lives([&] {
    for (std::uint64_t life = 1; life <= 2000; ++life) {
      const StreamId id{"n", {life}};
      fanout.catalog()->declare_channel(channel(id, 1, "a name that is long enough")).value();
      fanout.publish(batch_of(id, 0, 20));
      fanout.end_stream(id, 20);
      fanout.forget(id);
    }
    done = true;
  });
  std::size_t frames = 0;
  std::size_t wrong = 0;
  for (bool last = false; !last;) {
    last = done;
    while (auto delivery = reader.try_recv())
      delivery->each([&](const FrameView& frame) {
        ++frames;
        wrong += frame.name.empty() || frame.name == "a name that is long enough" ? 0 : 1;
      });
  }
  CHECK(frames == 2000 * 20);
  CHECK(wrong == 0);
}
