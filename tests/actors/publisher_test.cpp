#include "middleman_test.hpp"

#include <datastream/actors/fanout_actor.hpp>
#include <datastream/actors/publisher_actor.hpp>
#include <datastream/actors/registry.hpp>

#include <doctest/doctest.h>

#include <sstream>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> names(caf::actor_system& system, const Publisher& publisher) {
  return ask<OfferedNames>(system, publisher.actor(), names_atom_v).value().names;
}

bool is(const caf::error& error, ActorError code) {
  return error == caf::make_error(code);
}

} // namespace

TEST_CASE("a_publisher_finds_by_name_what_it_was_offered_and_forgets_who_ends") {
  TestSystem test;
  Publisher publisher{test.system};
  Endpoint a{test.system, {.node = "a"}};
  const auto b = spawn_fanout(test.system);
  CHECK(publisher.offer("a", a.ref()));
  CHECK(ask<caf::actor>(test.system, publisher.actor(), find_atom_v, std::string()) ==
        a.ref().actor()); // the only one needs no name
  CHECK(publisher.offer("b", EndpointRef(b)));
  CHECK(publisher.offer("b", EndpointRef(b))); // again
  CHECK(names(test.system, publisher) == std::vector<std::string>{"a", "b"});
  CHECK(ask<caf::actor>(test.system, publisher.actor(), find_atom_v, std::string("b")) == b);

  CHECK(is(publisher.offer("a", EndpointRef(b)).error(), ActorError::name_taken));
  CHECK(is(publisher.offer("c", EndpointRef()).error(), ActorError::no_actor));
  for (const std::string unknown : {"c", ""})
    CHECK(is(ask<caf::actor>(test.system, publisher.actor(), find_atom_v, unknown).error(),
             ActorError::unknown_name));

  CHECK(publisher.withdraw("b"));
  CHECK_FALSE(publisher.withdraw("b"));
  a.close();
  CHECK(eventually([&] { return names(test.system, publisher).empty(); }));
  Endpoint again{test.system, {.node = "a"}};
  CHECK(publisher.offer("a", again.ref())); // the name is free again
  stop(b);
}

TEST_CASE("a_publisher_may_be_moved_and_ends_with_its_owner") {
  TestSystem test;
  caf::actor_addr address;
  {
    Publisher first{test.system};
    address = first.actor().address();
    Publisher second{std::move(first)};
    CHECK(second.actor().address() == address);
    Publisher third{test.system};
    third = std::move(second);
    CHECK(third.actor().address() == address);
    CHECK(names(test.system, third).empty());
  }
  CHECK(eventually([&] { return !caf::actor_cast<caf::actor>(address); }));
}

TEST_CASE("streams_of_another_process_are_found_by_name_and_only_their_owner_offers_them") {
  RemoteSystem test;
  Publisher publisher{test.system};
  Endpoint one{test.system, {.node = "one"}};
  Endpoint two{test.system, {.node = "two"}};
  REQUIRE(publisher.offer("first", one.ref()));
  REQUIRE(publisher.offer("second", two.ref()));
  const auto port = publish(test.system, publisher.actor(), 0);
  REQUIRE(port);

  RemoteSystem elsewhere; // its own node, over TCP
  const RemoteEndpoint second{.host = "127.0.0.1", .port = *port, .name = "second"};
  const auto found = connect(elsewhere.system, second);
  REQUIRE(found);
  const auto seen = std::make_shared<Seen>(true);
  const auto reader = spawn_recorder(elsewhere.system, *found, seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  CHECK(seen->now().start->starts.at(0).stream == two.stream_id());
  two.producer().submit_text(ChannelId{1}, "x");
  CHECK(eventually([&] { return seen->frames() == 1; }));

  auto unknown = second;
  unknown.name = "third";
  CHECK(is(connect(elsewhere.system, unknown).error(), ActorError::unknown_name));
  const auto there = connect(elsewhere.system, "127.0.0.1", *port);
  REQUIRE(there);
  CHECK(is(
      ask<bool>(elsewhere.system, there->actor(), offer_atom_v, std::string("mine"), found->actor())
          .error(),
      ActorError::not_local));
  CHECK(
      is(ask<bool>(elsewhere.system, there->actor(), withdraw_atom_v, std::string("first")).error(),
         ActorError::not_local));
  CHECK(names(test.system, publisher) == std::vector<std::string>{"first", "second"});
  stop(reader);
  CHECK(eventually([&] { return two.ledger().fanout.subscribers.empty(); }));
}

TEST_CASE("a_registered_publisher_is_found_here_and_by_other_nodes") {
  RemoteSystem test;
  CHECK_FALSE(find_actor(test.system, publisher_name));
  Publisher publisher{test.system};
  register_actor(test.system, publisher_name, publisher.actor());
  CHECK(find_actor(test.system, publisher_name) == publisher.actor());
  CHECK(find_actor(test.system, publisher_name, test.system.node()) == publisher.actor());

  Endpoint node{test.system, {.node = "n"}};
  const auto port = publish(test.system, node.ref(), 0); // any actor of that node will do
  REQUIRE(port);
  RemoteSystem elsewhere;
  const auto remote = connect(elsewhere.system, "127.0.0.1", *port);
  REQUIRE(remote);
  const auto found = find_actor(elsewhere.system, publisher_name, remote->actor()->node());
  REQUIRE(found);
  CHECK(ask<OfferedNames>(elsewhere.system, found, names_atom_v));
  unregister_actor(test.system, publisher_name);
  CHECK_FALSE(find_actor(test.system, publisher_name));
  CHECK_FALSE(find_actor(elsewhere.system, publisher_name, remote->actor()->node()));
}

TEST_CASE("registry_keys_are_told_apart_by_every_caf") {
  for (std::size_t i = 0; i < registry_names.size(); ++i) {
    const auto key = registry_names[i].key;
    CHECK(key.size() <= 10);
    CHECK(key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == key.npos);
    for (std::size_t j = 0; j < i; ++j)
      CHECK(key != registry_names[j].key);
  }
}

TEST_CASE("without_a_middleman_nothing_remote_is_possible_and_says_so") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  CHECK(is(publish(test.system, node.ref(), 0).error(), ActorError::no_middleman));
  CHECK(is(connect(test.system, "127.0.0.1", 1).error(), ActorError::no_middleman));
  CHECK(is(unpublish(test.system, node.ref().actor(), 1).error(), ActorError::no_middleman));
}

TEST_CASE("a_port_may_be_closed_while_its_readers_stay") {
  RemoteSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto port = publish(test.system, node.ref(), 0);
  REQUIRE(port);
  RemoteSystem elsewhere;
  const auto remote = connect(elsewhere.system, "127.0.0.1", *port);
  REQUIRE(remote);
  const auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(elsewhere.system, *remote, seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  CHECK(unpublish(test.system, node.ref().actor(), *port));
  RemoteSystem late;
  CHECK_FALSE(connect(late.system, "127.0.0.1", *port));
  node.producer().submit_text(ChannelId{1}, "x");
  CHECK(eventually([&] { return seen->frames() == 1; }));
  stop(reader);
}

TEST_CASE("a_reader_whose_endpoint_came_through_a_third_system_follows_the_endpoint_alone") {
  RemoteSystem home;
  RemoteSystem away;
  auto node = std::make_unique<Endpoint>(home.system, EndpointOptions{.node = "n"});
  const auto port = publish(home.system, node->ref(), 0);
  REQUIRE(port);
  auto seen = std::make_shared<Seen>();
  caf::actor reader;
  {
    // The third one knows the endpoint from elsewhere, and offers it.
    RemoteSystem between;
    const auto known = connect(between.system, "127.0.0.1", *port);
    REQUIRE(known);
    Publisher publisher{between.system};
    REQUIRE(publisher.offer("n", *known));
    const auto directory = publish(between.system, publisher.actor(), 0);
    REQUIRE(directory);
    const auto found = connect(away.system, {.host = "127.0.0.1", .port = *directory, .name = "n"});
    REQUIRE(found);
    // One who wants the endpoint itself, whatever becomes of the one who told of it.
    const auto direct = connect(away.system, "127.0.0.1", *port);
    REQUIRE(direct);
    CHECK(direct->actor() == found->actor());
    reader = spawn_recorder(away.system, *found, seen);
    REQUIRE(eventually([&] { return seen->has_started(); }));
  }
  REQUIRE(node->producer().submit_text({1}, "after the third one is gone"));
  CHECK(eventually([&] { return seen->frames() == 1; }));
  CHECK(seen->now().downs == 0);
  node->close();
  node.reset();
  CHECK(eventually([&] { return seen->now().downs == 1; }));
  CHECK(seen->now().downs == 1);
  stop(reader);
}
