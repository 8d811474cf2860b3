#include "actor_test.hpp"

#include <datastream/caf/send.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <mutex>

using namespace datastream;
using namespace datastream::test;

namespace {

struct Kept {
  std::mutex mutex;
  std::deque<Receipt> receipts; // used by the actor only; the mutex guards its size
  std::size_t size() {
    const std::lock_guard lock(mutex);
    return receipts.size();
  }
};

/// Keeps every receipt, and uses the one with the number that it is sent; -1: leaves.
caf::behavior keeper(caf::event_based_actor* self, const EndpointRef& node,
                     const std::shared_ptr<Kept>& kept) {
  Subscriber in{self};
  const auto number = in.subscribe(node,
                                   {.on_delivery =
                                        [kept](const EventBatch&, const Receipt& receipt) {
                                          const std::lock_guard lock(kept->mutex);
                                          kept->receipts.push_back(receipt);
                                        }},
                                   {.capacity = {10, 1U << 20U}});
  return in.handlers([=](int index) mutable {
    if (index < 0)
      return in.unsubscribe(number);
    Receipt receipt;
    {
      const std::lock_guard lock(kept->mutex);
      receipt = kept->receipts.at(static_cast<std::size_t>(index));
    }
    receipt.acknowledge();
  });
}

} // namespace

TEST_CASE("an_actor_may_acknowledge_later_and_until_then_its_capacity_is_taken") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto kept = std::make_shared<Kept>();
  const auto reader = test.system.spawn(keeper, node.ref(), kept);
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.size() == 1; }));
  const auto submit = [&](std::size_t deliveries) {
    node.producer().submit_text(ChannelId{1}, "x");
    REQUIRE(eventually([&] { return kept->size() == deliveries; }));
  };
  for (std::size_t i = 1; i <= 4; ++i)
    submit(i);
  CHECK(outstanding(node.ledger()) == 4);
  compat::anon_send(reader, 1); // with every one before
  CHECK(eventually([&] { return outstanding(node.ledger()) == 2; }));
  compat::anon_send(reader, 0); // backwards: changes nothing
  CHECK(eventually([&] { return node.ledger().fanout.stray_acknowledgements == 1; }));
  compat::anon_send(reader, 3);
  CHECK(eventually([&] { return outstanding(node.ledger()) == 0; }));
  submit(5);
  compat::anon_send(reader, -1);
  CHECK(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
  compat::anon_send(reader, 4); // the subscription is gone: harmless, and not even sent
  CHECK(node.ledger().fanout.departed.abandoned == 1);
  CHECK(node.ledger().fanout.stray_acknowledgements == 1);
  CHECK(node.ledger().balanced());
  stop(reader);
}

TEST_CASE("a_receipt_that_outlives_its_actor_is_harmless") {
  Receipt().acknowledge();
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto kept = std::make_shared<Kept>();
  const auto reader = test.system.spawn(keeper, node.ref(), kept);
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.size() == 1; }));
  node.producer().submit_text(ChannelId{1}, "x");
  REQUIRE(eventually([&] { return kept->size() == 1; }));
  stop(reader);
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
  kept->receipts.front().acknowledge();
  CHECK(node.ledger().fanout.departed.abandoned == 1);
}
