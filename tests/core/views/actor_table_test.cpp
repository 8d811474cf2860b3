#include <datastream/record.hpp>
#include <datastream/views/actor_table.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include <stream_of.hpp>

using namespace datastream;

namespace {

constexpr ChannelId channel{1};

ActorSnapshot actor(const std::string& address, std::uint64_t processed) {
  ActorSnapshot snapshot;
  snapshot.address = address;
  snapshot.messages_processed = processed;
  return snapshot;
}

ActorSnapshot poisoned(const std::string& address, const std::string& reason) {
  ActorSnapshot snapshot = actor(address, 0);
  snapshot.poisoned = true;
  snapshot.reason = reason;
  return snapshot;
}

Frame report(std::uint64_t position, std::uint64_t worker, std::vector<ActorSnapshot> actors,
             std::uint64_t omitted = 0) {
  return {channel, {position}, encode_record(ActorsRecord{worker, std::move(actors), omitted})};
}

FrameView view(const Frame& frame) {
  return {frame.channel, frame.position, frame.payload, {}};
}

} // namespace

TEST_CASE("a_table_has_the_last_state_of_every_actor") {
  const ActorTable table =
      actor_table(stream_of({report(0, 1, {actor("a", 1), actor("b", 1)}),
                             {{2}, {1}, encode_record(ActorsRecord{9, {actor("c", 1)}, 0})},
                             report(4, 2, {actor("a", 5)}, 3)}),
                  channel);
  REQUIRE(table.actors().size() == 2);
  REQUIRE(table.find("a"));
  CHECK(table.find("a")->last.messages_processed == 5);
  CHECK(table.find("a")->worker_id == 2);
  CHECK(table.find("a")->position == Position{4});
  CHECK(table.find("b")->position == Position{0});
  CHECK(table.find("c") == nullptr);
  CHECK(table.last_record() == Position{4});
  CHECK(table.omitted_actors() == 3);
  CHECK(table.undecodable() == 0);
}

TEST_CASE("a_poisoned_actor_stays_poisoned_with_its_reason") {
  const ActorTable table =
      actor_table(stream_of({report(0, 1, {actor("a", 1)}), report(1, 1, {poisoned("a", "bad")}),
                             report(2, 1, {actor("a", 2), actor("b", 1)})}),
                  channel);
  CHECK(table.find("a")->last.poisoned);
  CHECK(table.find("a")->last.reason == "bad");
  CHECK(table.find("a")->poisoned == Position{1});
  CHECK(table.find("a")->last.messages_processed == 2);
  CHECK_FALSE(table.find("b")->poisoned);
}

TEST_CASE("a_table_of_nothing_is_empty") {
  const ActorTable table = actor_table(stream_of({}), channel);
  CHECK(table.actors().empty());
  CHECK_FALSE(table.last_record());
}

TEST_CASE("the_older_forms_of_the_record_of_actors_are_read") {
  const auto pairs = decode_actors(
      R"({"actors":[{"address":"a","name":"counter","mailbox_depth":1,"messages_processed":3,)"
      R"("last_msg_type":"get","poisoned":false,"message_type_counts":[["get",2],["put",1]]}]})");
  REQUIRE(pairs);
  CHECK(*pairs ==
        ActorsRecord{0, {{"a", "counter", 1, "get", 3, false, {}, {{"get", 2}, {"put", 1}}}}, 0});

  const auto objects = decode_actors(
      R"({"worker_id":4,"actors":[{"address":"0a\u2026","mailbox_depth":0,"last_msg_type":null,)"
      R"("actor_type":"Counter","message_type":null,"messages_processed":3,"poisoned":true,)"
      R"("message_type_counts":[{"ty":"get","count":3}]}]})");
  REQUIRE(objects);
  CHECK(*objects == ActorsRecord{4, {{"0a\u2026", "", 0, {}, 3, true, {}, {{"get", 3}}}}, 0});
}

TEST_CASE("what_we_write_of_actors_is_what_we_read") {
  const ActorsRecord record{1, {{"a", "n", 1, "m", 2, true, "r", {{"m", 2}}}, actor("b", 0)}, 5};
  CHECK(decode_actors(encode_record(record)) == record);
}

TEST_CASE("odd_parts_of_a_record_of_actors_are_left_out") {
  const auto record = decode_actors(
      R"({"actors":[{"address":"a","message_type_counts":[["x"],["x",-1],[1,1],{"ty":"x"},7,null,)"
      R"({"ty":"y","count":1}]},{"address":"b","mailbox_depth":-1},{"name":"nobody"},3,)"
      R"({"address":"c","message_type_counts":null},{"address":"d","message_type_counts":"x"}]})");
  REQUIRE(record);
  REQUIRE(record->actors.size() == 3);
  CHECK(record->actors[0].message_type_counts == std::vector<MessageTypeCount>{{"y", 1}});
  CHECK(record->actors[1].address == "c");
  CHECK(record->actors[2].address == "d");
}

TEST_CASE("a_payload_that_is_no_record_of_actors_is_refused_and_counted") {
  const char* const payloads[] = {"",
                                  "null",
                                  "[]",
                                  "{}",
                                  R"({"actors":{}})",
                                  R"({"worker_id":-1,"actors":[]})",
                                  R"({"actors":[],"omitted_actors":"3"})",
                                  R"({"actors":[)",
                                  "\xff"};
  ActorTable table;
  std::uint64_t count = 0;
  for (const char* payload : payloads) {
    CAPTURE(payload);
    CHECK_FALSE(decode_actors(payload));
    CHECK_FALSE(table.accept({channel, {count}, payload, {}}));
    CHECK(table.undecodable() == ++count);
  }
  CHECK_FALSE(table.last_record());
  CHECK(table.actors().empty());
}

TEST_CASE("beyond_its_bound_a_table_forgets_the_actors_not_mentioned_for_longest") {
  ActorTable table;
  for (std::uint64_t i = 0; i < defaults::actor_table; ++i)
    REQUIRE(table.accept(view(report(i, 0, {actor(std::to_string(i), 1)}))));
  CHECK(table.actors().size() == defaults::actor_table);
  CHECK(table.forgotten() == 0);
  table.accept(view(report(defaults::actor_table, 0, {actor("0", 2), actor("new", 1)})));
  CHECK(table.forgotten() == (defaults::actor_table + 1) / 4);
  CHECK(table.actors().size() + table.forgotten() == defaults::actor_table + 1);
  CHECK(table.find("0"));
  CHECK(table.find("new"));
  CHECK_FALSE(table.find("1"));
  CHECK(table.find(std::to_string(defaults::actor_table - 1)));
}

TEST_CASE("long_names_and_many_types_fill_a_table_as_well") {
  ActorTable table;
  const auto large = [](std::uint64_t number) {
    ActorSnapshot snapshot = poisoned("actor " + std::to_string(number), std::string(500'000, 'r'));
    snapshot.name = std::string(250'000, 'n');
    snapshot.last_msg_type = std::string(125'000, 't');
    snapshot.message_type_counts = {{std::string(125'000, 'c'), number}};
    return snapshot;
  };
  constexpr std::uint64_t fitting = defaults::actor_table_bytes / 1'001'000;
  for (std::uint64_t i = 0; i < fitting; ++i)
    REQUIRE(table.accept(view(report(i, 0, {large(i)}))));
  CHECK(table.forgotten() == 0);
  for (std::uint64_t i = 0; i < fitting; ++i) // what is replaced is counted once
    REQUIRE(table.accept(view(report(fitting + i, 0, {large(i)}))));
  CHECK(table.forgotten() == 0);
  table.accept(view(report(2 * fitting, 0, {large(fitting)})));
  table.accept(view(report(2 * fitting + 1, 0, {large(fitting + 1)})));
  CHECK(table.forgotten() >= fitting / 4);
  CHECK(table.actors().size() + table.forgotten() == fitting + 2);
  CHECK_FALSE(table.find("actor 0"));
  CHECK(table.find("actor " + std::to_string(fitting + 1)));
  // One that takes all the room.
  ActorSnapshot huge = actor("huge", 1);
  huge.name = std::string(defaults::actor_table_bytes - 10'000, 'h');
  table.accept(view(report(2 * fitting + 2, 0, {huge})));
  CHECK(table.actors().size() == 1);
  CHECK(table.find("huge"));
}

TEST_CASE("a_table_does_not_depend_on_the_order_of_arrival_or_on_duplicates") {
  CHECK(rc::check([] {
    std::vector<Frame> frames;
    const auto count = *rc::gen::inRange<std::uint64_t>(0, 12);
    for (std::uint64_t position = 0; position < count; ++position) {
      std::vector<ActorSnapshot> actors;
      for (const char* address : {"a", "b", "c"})
        if (const int what = *rc::gen::inRange(0, 4); what == 1)
          actors.push_back(poisoned(address, "reason " + std::to_string(position)));
        else if (what > 1)
          actors.push_back(actor(address, position));
      frames.push_back(report(position, position % 3, std::move(actors), position));
    }
    ActorTable in_order;
    for (const Frame& frame : frames)
      in_order.accept(view(frame));
    ActorTable shuffled;
    for (const auto index : *rc::gen::container<std::vector<std::size_t>>(
             rc::gen::inRange<std::size_t>(0, frames.empty() ? 1 : frames.size())))
      if (!frames.empty())
        shuffled.accept(view(frames[index]));
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      shuffled.accept(view(*frame));
    RC_ASSERT(shuffled.actors() == in_order.actors());
    RC_ASSERT(shuffled.last_record() == in_order.last_record());
    RC_ASSERT(shuffled.omitted_actors() == in_order.omitted_actors());
  }));
}
