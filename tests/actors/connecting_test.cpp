/// Looking for an actor of another process, with a stand-in for who connects.
#include "actor_test.hpp"

#include <datastream/actors/remote.hpp>
#include <datastream/caf/send.hpp>

#include <caf/actor_cast.hpp>
#include <caf/node_id.hpp>
#include <caf/sec.hpp>
#include <caf/typed_response_promise.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

using Connected = caf::result<caf::node_id, caf::strong_actor_ptr, std::set<std::string>>;

/// Answers the first attempts with an error, and later ones with an actor.
class Connector {
public:
  Connector(caf::actor_system& system, const EndpointRef& found, int failures, caf::sec error)
      : actor_(system.spawn([=, this]() -> caf::behavior {
          return {[=, this](caf::connect_atom, const std::string& host,
                            std::uint16_t port) -> Connected {
            CHECK(host == "elsewhere");
            CHECK(port == 4242);
            if (++attempts_ <= failures)
              return caf::make_error(error);
            return {found.actor()->node(), caf::actor_cast<caf::strong_actor_ptr>(found.actor()),
                    std::set<std::string>()};
          }};
        })) {}
  ~Connector() { stop(actor_); }

  int attempts() const { return attempts_; }
  RemoteEndpoint endpoint() const {
    return {.host = "elsewhere", .port = 4242, .timeout = 20s, .connector = actor_};
  }

private:
  std::atomic<int> attempts_ = 0;
  caf::actor actor_;
};

} // namespace

TEST_CASE("a_connection_that_was_cut_off_at_once_is_tried_once_more") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const Connector connector(test.system, node.ref(), 1, caf::sec::connection_timeout);
  const auto found = connect(test.system, connector.endpoint());
  REQUIRE(found);
  CHECK(found->actor() == node.ref().actor());
  CHECK(connector.attempts() == 2);
}

TEST_CASE("a_subscriber_too_tries_a_connection_that_was_cut_off_at_once_once_more") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const Connector connector(test.system, node.ref(), 1, caf::sec::connection_timeout);
  const auto seen = std::make_shared<Seen>();
  RemoteEndpoint remote = connector.endpoint();
  remote.retry_first = remote.retry_most = 1h; // it is not this that finds it
  const auto reader = test.system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    in.subscribe(remote, recording(seen));
    return in.handlers();
  });
  CHECK(eventually([&] { return seen->has_started(); }));
  CHECK(connector.attempts() == 2);
  stop(reader);
}

TEST_CASE("a_connection_that_is_cut_off_again_is_given_up") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const Connector connector(test.system, node.ref(), 2, caf::sec::connection_timeout);
  const auto found = connect(test.system, connector.endpoint());
  REQUIRE_FALSE(found);
  CHECK(found.error() == caf::sec::connection_timeout);
  CHECK(connector.attempts() == 2);
}

TEST_CASE("a_connection_that_is_refused_is_not_tried_again") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const Connector connector(test.system, node.ref(), 1, caf::sec::cannot_connect_to_node);
  const auto found = connect(test.system, connector.endpoint());
  REQUIRE_FALSE(found);
  CHECK(found.error() == caf::sec::cannot_connect_to_node);
  CHECK(connector.attempts() == 1);
}

TEST_CASE("who_sets_only_the_first_delay_may_set_a_long_one") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const Connector connector(test.system, node.ref(), 2, caf::sec::cannot_connect_to_node);
  auto remote = connector.endpoint();
  remote.retry_first = 20ms;
  remote.retry_most = 1ms;
  auto seen = std::make_shared<Seen>();
  const auto begun = std::chrono::steady_clock::now();
  const auto reader = test.system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    in.subscribe(remote, recording(seen));
    return in.handlers();
  });
  CHECK(eventually([&] { return seen->has_started(); }));
  CHECK(std::chrono::steady_clock::now() - begun >= 2 * remote.retry_first);
  CHECK(connector.attempts() == 3);
  stop(reader);
}

TEST_CASE("a_subscriber_that_is_looking_does_not_look_twice_because_somebody_says_so") {
  TestSystem test;
  const auto attempts = std::make_shared<std::atomic<int>>(0);
  const auto connector = test.system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    const auto unanswered =
        std::make_shared<std::vector<caf::typed_response_promise<std::string>>>();
    return {[=](caf::connect_atom, const std::string&, std::uint16_t) {
              ++*attempts;
              unanswered->push_back(self->make_response_promise<std::string>());
              return unanswered->back();
            },
            [](int question) { return question; }};
  });
  const RemoteEndpoint remote{
      .host = "elsewhere", .port = 4242, .timeout = 1h, .connector = connector};
  std::uint64_t number = 0;
  const auto reader = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    number = in.subscribe(remote, recording(std::make_shared<Seen>()));
    return in.handlers([](int question) { return question; });
  });
  REQUIRE(eventually([&] { return *attempts == 1; }));
  for (int i = 0; i < 5; ++i)
    compat::anon_send(reader, retry_atom_v, number);
  REQUIRE(ask<int>(test.system, reader, 1) == 1);    // so it has taken all of them
  REQUIRE(ask<int>(test.system, connector, 1) == 1); // and whatever it has sent has come
  CHECK(*attempts == 1);
  stop(reader);
  stop(connector);
}
