#include "pipe_support.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <thread>

using namespace datastream;
using namespace pipe_test;
using namespace std::chrono_literals;

namespace {

RecvError error_of(const std::expected<EventBatch, RecvError>& result) {
  REQUIRE(!result);
  return result.error();
}

void declare(DeliveryFanout& fanout, std::uint32_t id) {
  fanout.catalog()
      ->declare_channel({stream_id, ChannelId{id}, std::to_string(id), std::nullopt, TextStream{}})
      .value();
}

} // namespace

TEST_CASE("try_recv_says_empty_until_something_comes") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  CHECK(error_of(reader.try_recv()) == RecvError::empty);
  fanout.publish(batch_of(stream_id, 0, 2));
  CHECK(reader.try_recv()->frames.size() == 2);
  CHECK(error_of(reader.try_recv()) == RecvError::empty);
  CHECK(to_string(RecvError::empty) == "empty");
}

TEST_CASE("recv_for_gives_up_after_its_timeout") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(error_of(reader.recv_for(5ms)) == RecvError::timeout);
  CHECK(std::chrono::steady_clock::now() - begin >= 5ms);
  CHECK(error_of(reader.recv_for(-1h)) == RecvError::timeout);
}

TEST_CASE("the_longest_timeout_waits_and_does_not_overflow") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  for (std::uint64_t round = 0; round < 50; ++round) { // so that it waits in some of them
    std::jthread publisher([&] {
      std::this_thread::yield();
      fanout.publish(batch_of(stream_id, round, 1));
    });
    CHECK(reader.recv_for(std::chrono::nanoseconds::max()));
  }
}

TEST_CASE("recv_wakes_up_for_frames_declarations_and_ends") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  std::jthread publisher([&] {
    fanout.publish(batch_of(stream_id, 0, 1));
    declare(fanout, 1);
    fanout.refresh();
    fanout.end_stream(stream_id, 1);
  });
  bool frames = false;
  bool declared = false;
  bool ended = false;
  while (!ended) {
    const auto delivery = reader.recv_for(patience);
    REQUIRE(delivery);
    frames |= !delivery->frames.empty();
    declared |= !declared_names({*delivery}).empty();
    ended |= delivery->ended.has_value();
  }
  CHECK(frames);
  CHECK(declared);
}

TEST_CASE("a_waiting_reader_is_told_of_drops_that_nothing_else_would_carry") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 4, .bytes = 2});
  REQUIRE(fanout.catalog()->declare_stream({stream_id, {}, StreamOrigin::RemoteNode}));
  REQUIRE(reader.try_recv()); // the stream
  std::jthread publisher([&] { fanout.publish(batch_of(stream_id, 0, 3)); });
  const auto notice = reader.recv_for(patience);
  REQUIRE(notice);
  CHECK(notice->frames.empty());
  CHECK(notice->dropped == 3);
}

TEST_CASE("a_stop_token_ends_a_wait") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  std::stop_source stop;
  std::optional<RecvError> plain;
  std::optional<RecvError> timed;
  {
    std::jthread waiting([&] {
      plain = reader.recv(stop.get_token()).error();
      timed = reader.recv_for(patience, stop.get_token()).error();
    });
    stop.request_stop();
  }
  CHECK(plain == RecvError::stopped);
  CHECK(timed == RecvError::stopped);
}

TEST_CASE("what_is_there_is_received_in_spite_of_a_stop") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  fanout.publish(batch_of(stream_id, 0, 1));
  std::stop_source stop;
  stop.request_stop();
  CHECK(reader.recv(stop.get_token()));
  CHECK(error_of(reader.recv(stop.get_token())) == RecvError::stopped);
}

TEST_CASE("unsubscribing_from_another_thread_ends_a_wait") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  std::atomic<bool> waiting = false;
  std::optional<RecvError> error;
  {
    std::jthread receiver([&] {
      waiting = true;
      error = reader.recv().error();
    });
    CHECK(eventually([&] { return waiting.load(); }));
    reader.unsubscribe();
  }
  CHECK(error == RecvError::disconnected);
}

TEST_CASE("an_unsubscribed_reader_is_disconnected_whatever_happens_later") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 2});
  fanout.publish(batch_of(stream_id, 0, 3));
  reader.unsubscribe();
  reader.unsubscribe();
  CHECK(error_of(reader.try_recv()) == RecvError::disconnected);
  declare(fanout, 1); // it has left and is told no more
  fanout.publish(batch_of(stream_id, 3, 3));
  CHECK(error_of(reader.try_recv()) == RecvError::disconnected);
  CHECK(error_of(reader.recv()) == RecvError::disconnected);
  CHECK(reader.counts() == SubscriberCounts{.offered = 3, .dropped = 1, .abandoned = 2});
  CHECK(fanout.ledger().departed == reader.counts());
}

TEST_CASE("a_closed_fanout_lets_readers_take_what_is_queued_and_then_disconnects_them") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 2});
  fanout.publish(batch_of(stream_id, 0, 3));
  declare(fanout, 1);
  fanout.close();
  declare(fanout, 2); // too late
  CHECK(fanout.publish(batch_of(stream_id, 3, 2)).dropped_for_subscribers == 2);
  const auto rest = reader.drain_available();
  CHECK(positions_of(rest) == std::vector<std::uint64_t>{0, 1});
  CHECK(declared_names(rest) == std::vector<std::string>{"1"});
  CHECK(rest.back().dropped == 3);
  CHECK(error_of(reader.try_recv()) == RecvError::disconnected);
  CHECK(error_of(reader.recv()) == RecvError::disconnected);
  CHECK(error_of(reader.recv_for(1h)) == RecvError::disconnected);
  CHECK(fanout.ledger().balanced());
}

TEST_CASE("what_is_queued_stays_readable_after_the_fanout_is_gone") {
  auto fanout = std::make_unique<DeliveryFanout>();
  auto reader = fanout->subscribe("reader");
  declare(*fanout, 1);
  fanout->publish(batch_of(stream_id, 0, 2));
  fanout.reset();
  const auto delivery = reader.recv();
  REQUIRE(delivery);
  delivery->each([](const FrameView& frame) { CHECK(frame.name == "1"); });
  CHECK(error_of(reader.recv()) == RecvError::disconnected);
}

TEST_CASE("names_stay_valid_when_the_delivery_outlives_everything_else") {
  std::optional<EventBatch> kept;
  {
    DeliveryFanout fanout;
    auto reader = fanout.subscribe("reader");
    declare(fanout, 1);
    fanout.publish(batch_of(stream_id, 0, 1));
    kept = *reader.try_recv();
  }
  std::size_t seen = 0;
  kept->each([&](const FrameView& frame) { seen += frame.name == "1" ? 1 : 0; });
  CHECK(seen == 1);
}

TEST_CASE("a_new_channel_shows_without_a_publication") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader");
  declare(fanout, 1);
  const auto delivery = reader.try_recv();
  REQUIRE(delivery);
  CHECK(delivery->frames.empty());
  CHECK(delivery->declarations.size() == 2); // the stream and the channel
  CHECK(error_of(reader.try_recv()) == RecvError::empty);
}

TEST_CASE("the_drop_count_follows_when_the_last_frames_were_dropped") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 2});
  fanout.publish(batch_of(stream_id, 0, 5));
  const auto first = reader.try_recv();
  CHECK(first->frames.size() == 2);
  CHECK(first->dropped == 0);
  const auto notice = reader.try_recv();
  REQUIRE(notice);
  CHECK(notice->frames.empty());
  CHECK(notice->dropped == 3);
  CHECK(error_of(reader.try_recv()) == RecvError::empty);
}

TEST_CASE("a_second_waiting_reader_receives_the_notice_that_the_first_one_left") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 1});
  std::atomic<int> received = 0;
  std::vector<std::jthread> waiting; // each of them receives once
  for (int t = 0; t < 2; ++t)
    waiting.emplace_back([&] { received += reader.recv_for(patience) ? 1 : 0; });
  fanout.publish(batch_of(stream_id, 0, 2));
  waiting.clear();
  CHECK(received == 2);
}

TEST_CASE("each_delivery_goes_to_one_of_several_readers") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("reader", SubscriptionRequest::all(), {.frames = 1U << 20U});
  constexpr std::uint64_t batches = 5000;
  std::atomic<std::uint64_t> frames = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (auto delivery = reader.recv())
        frames += delivery->frames.size();
    });
  for (std::uint64_t i = 0; i < batches; ++i)
    fanout.publish(batch_of(stream_id, i, 1));
  fanout.close();
  threads.clear();
  CHECK(frames == batches);
  CHECK(reader.counts() == SubscriberCounts{.offered = batches, .acknowledged = batches});
}

TEST_CASE("a_subscription_that_is_moved_over_unsubscribes_the_one_that_was_there") {
  DeliveryFanout fanout;
  auto reader = fanout.subscribe("first");
  reader = fanout.subscribe("second");
  CHECK(reader.name() == "second");
  CHECK(fanout.subscriber_count() == 1);
  {
    const auto moved = std::move(reader);
    CHECK(moved.name() == "second");
  }
  CHECK(fanout.subscriber_count() == 0);
}
