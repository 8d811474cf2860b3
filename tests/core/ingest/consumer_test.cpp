#include "batches.hpp"

#include <datastream/ingest/consumer.hpp>
#include <datastream/testing/scripted_transport.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace datastream;
using namespace ingest_test;

namespace {

const StreamId stream_id{"node", {7}};

ChannelDescriptor channel(std::uint32_t id, std::string name) {
  return {stream_id, {id}, std::move(name), std::nullopt, TextStream{}};
}

} // namespace

TEST_CASE("a_delivery_is_accepted_when_its_position_is_new") {
  Consumer consumer;
  CHECK(consumer.accept(Delivery{stream_id, {{1}, {0}, "a"}}));
  CHECK_FALSE(consumer.accept(Delivery{stream_id, {{1}, {0}, "a"}}));
  CHECK_FALSE(consumer.accept(Delivery{stream_id, {{1}, {0}, "b"}}));
  CHECK(consumer.accept(Delivery{{"node", {8}}, {{1}, {0}, "b"}}));
  CHECK(consumer.store().find(stream_id)->at({0})->payload == "a");
}

TEST_CASE("scripted_transport_and_ingest_preserve_delivered_frames_and_surface_gaps") {
  const auto frames = run_of_frames(0, 4, 10);
  const testing::ScriptedTransport transport{
      {.drop = {{1}}, .reorder = testing::reorder::Reversed{}}};
  Consumer consumer;
  CHECK(consumer.ingest(transport.carry(stream_id, frames)) == 3);
  const StoredStream& stream = *consumer.store().find(stream_id);
  const std::vector<Frame> expected{frames[0], frames[2], frames[3]};
  CHECK(std::ranges::equal(stream.frames(), expected, {}, &FrameView::to_frame));
  CHECK(std::ranges::equal(stream.gaps(), std::vector<GapSpan>{{{1}, {1}}}));
}

TEST_CASE("batches_of_several_streams_go_to_their_streams") {
  const StreamId other{"other", {7}};
  Consumer consumer;
  for (std::uint64_t first = 0; first < 300; first += 100) {
    CHECK(consumer.accept(FrameBatch::copy_of(stream_id, run_of_frames(first, 100, 40))) == 100);
    CHECK(consumer.accept(FrameBatch::copy_of(other, run_of_frames(first, 50, 40))) == 50);
  }
  CHECK(consumer.accept(FrameBatch{}) == 0);
  CHECK(consumer.store().size() == 2);
  CHECK(consumer.store().find(stream_id)->size() == 300);
  CHECK(consumer.store().find(other)->size() == 150);
}

TEST_CASE("declarations_join_names_with_frames_whichever_comes_first") {
  Consumer consumer;
  consumer.accept(FrameDelivery{{stream_id, {3}}, {0}, "hi"});
  CHECK(consumer.channel_name(stream_id, {3}).empty());
  consumer.accept(ChannelDeclared{channel(3, "runtime.log")});
  CHECK(consumer.channel_name(stream_id, {3}) == "runtime.log");
  CHECK(consumer.channel_name({"node", {8}}, {3}).empty());
  CHECK(consumer.store().find(stream_id)->at({0})->payload == "hi");
}

TEST_CASE("declarations_store_nothing") {
  Consumer consumer;
  consumer.accept(StreamDeclared{{stream_id, "label", StreamOrigin::Bootstrap}});
  consumer.accept(ChannelDeclared{channel(1, "a")});
  consumer.accept(StreamEnded{stream_id});
  CHECK(consumer.store().empty());
  REQUIRE(consumer.catalog().find_stream(stream_id));
  CHECK(consumer.catalog().find_stream(stream_id)->label == "label");
}

TEST_CASE("conflicting_declarations_are_counted_and_the_first_stays") {
  Consumer consumer;
  consumer.accept(ChannelDeclared{channel(1, "first")});
  consumer.accept(ChannelDeclared{channel(1, "first")});
  CHECK(consumer.conflicting_declarations() == 0);
  consumer.accept(ChannelDeclared{channel(1, "second")});
  CHECK(consumer.conflicting_declarations() == 1);
  consumer.declare(DatastreamSnapshot{{}, {channel(1, "third"), channel(2, "fine")}});
  CHECK(consumer.conflicting_declarations() == 2);
  consumer.declare(std::make_shared<const ChannelDescriptor>(channel(2, "fourth")));
  CHECK(consumer.conflicting_declarations() == 3);
  CHECK(consumer.channel_name(stream_id, {1}) == "first");
  CHECK(consumer.channel_name(stream_id, {2}) == "fine");
}

TEST_CASE("malformed_frames_of_all_events_are_counted") {
  EventBatch events;
  events.malformed = 2;
  Consumer consumer;
  consumer.accept(events);
  consumer.accept(events);
  CHECK(consumer.malformed_frames() == 4);
}

TEST_CASE("a_stream_that_ended_is_marked_and_still_takes_what_was_under_way") {
  Consumer consumer;
  CHECK_FALSE(consumer.ended(stream_id));
  consumer.accept(StreamEnded{stream_id});
  CHECK(consumer.ended(stream_id));
  CHECK_FALSE(consumer.ended({"node", {8}}));
  consumer.accept(FrameDelivery{{stream_id, {1}}, {4}, "late"});
  CHECK(consumer.store().find(stream_id)->size() == 1);
}

TEST_CASE("a_consumer_gives_its_store_away") {
  Consumer consumer{{.frames = 10}};
  consumer.accept(FrameBatch::copy_of(stream_id, run_of_frames(0, 20, 8)));
  const Store store = std::move(consumer).into_store();
  CHECK(store.find(stream_id)->size() == 10);
}

TEST_CASE("conflicting_duplicate_ingest_preserves_first_frame_and_other_streams") {
  const StreamId other{"node", {8}};
  Consumer consumer;
  consumer.accept(Delivery{stream_id, {{1}, {0}, "first"}});
  consumer.accept(Delivery{other, {{2}, {0}, "other"}});
  CHECK_FALSE(consumer.accept(Delivery{stream_id, {{9}, {0}, "conflict"}}));
  CHECK(consumer.store().find(stream_id)->at({0})->to_frame() == Frame{{1}, {0}, "first"});
  CHECK(consumer.store().find(other)->at({0})->to_frame() == Frame{{2}, {0}, "other"});
  CHECK(consumer.store().find(stream_id)->ledger().conflicts == 1);
  CHECK(consumer.store().find(other)->ledger().conflicts == 0);
}

TEST_CASE("a_range_that_comes_ten_times_and_again_after_a_million_frames_is_stored_once") {
  const FrameBatch range = FrameBatch::copy_of(stream_id, run_of_frames(0, 100, 40));
  Consumer consumer;
  for (int i = 0; i < 10; ++i)
    CHECK(consumer.accept(range) == (i == 0 ? 100 : 0));
  for (std::uint64_t first = 100; first < 1'000'100; first += 1000)
    REQUIRE(consumer.accept(FrameBatch::copy_of(stream_id, run_of_frames(first, 1000, 8))) == 1000);
  CHECK(consumer.accept(range) == 0);
  const IngestLedger ledger = consumer.store().find(stream_id)->ledger();
  CHECK(ledger.stored == 1'000'100);
  CHECK(ledger.duplicates == 1000);
  CHECK(ledger.balanced());
}

TEST_CASE("an_old_batch_that_is_sent_again_after_newer_ones_changes_nothing") {
  const auto batch = [](std::uint64_t number) {
    return FrameBatch::copy_of(stream_id, run_of_frames(10 * (number - 1), 10, 40));
  };
  Consumer consumer;
  for (const std::uint64_t number : {2, 3, 1, 1})
    consumer.accept(batch(number));
  const StoredStream& stream = *consumer.store().find(stream_id);
  std::vector<Frame> expected;
  for (const std::uint64_t number : {1, 2, 3})
    for (const FrameView& frame : batch(number))
      expected.push_back(frame.to_frame());
  CHECK(std::ranges::equal(stream.frames(), expected, {}, &FrameView::to_frame));
  CHECK(stream.size() == 30);
  CHECK(stream.ledger().duplicates == 10);
  CHECK(stream.gaps().empty());
}

TEST_CASE("a_consumer_forgets_frames_names_and_the_end_of_a_stream") {
  Consumer consumer;
  consumer.accept(ChannelDeclared{{stream_id, {3}, "runtime.log", std::nullopt, TextStream{}}});
  consumer.accept(FrameDelivery{{stream_id, {3}}, {4}, "x"});
  consumer.accept(StreamEnded{stream_id});
  CHECK(consumer.forget(stream_id));
  CHECK(consumer.store().empty());
  CHECK(consumer.store().forgotten().arrived == 1);
  CHECK(consumer.channel_name(stream_id, {3}).empty());
  CHECK_FALSE(consumer.ended(stream_id));
  CHECK_FALSE(consumer.forget(stream_id));
}

TEST_CASE("starts_that_a_peer_claims_open_no_streams_and_are_known_when_frames_come") {
  Consumer consumer;
  SubscriptionStart start;
  for (std::uint64_t life = 1; life <= 100; ++life)
    start.starts.push_back({{"node", {life}}, {10}});
  consumer.begin(start);
  CHECK(consumer.store().empty());
  consumer.accept(FrameBatch::copy_of(stream_id, run_of_frames(12, 3, 8)));
  CHECK(consumer.store().size() == 1);
  CHECK(consumer.store().find(stream_id)->ledger().leading() == 2);
  EventBatch ended; // every frame of it was lost: that is known as well
  ended.ended = StreamEnd{{"node", {8}}, 15};
  consumer.accept(ended);
  CHECK(consumer.store().find({"node", {8}})->ledger().missing() == 5);
}
