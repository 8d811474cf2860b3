#include "relay.hpp"

#include "messages.hpp"

#include <datastream/actors/fanout_actor.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/caf/send.hpp>

#include <memory>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF
using namespace word_index;

namespace {

/// So little that a relay next to a busy node loses a part: what is lost on the way through two
/// processes adds up.
constexpr ds::SubscriberCapacity capacity{256, 16U << 20U};

} // namespace

caf::behavior relay(caf::event_based_actor* self, ds::EndpointRef node, caf::actor fanout,
                    caf::actor owner) {
  const auto id = std::make_shared<ds::SubscriptionId>();
  ds::Subscriber in{self};
  in.subscribe(node,
               ds::republish(self, fanout,
                             {.on_batch =
                                  [self](const ds::EventBatch& batch) {
                                    if (batch.ended)
                                      compat::send(self, caf::actor(self), finish_atom_v);
                                  },
                              .on_start =
                                  [self, owner, id](const ds::SubscriptionStart& start) {
                                    *id = start.id;
                                    compat::send(self, owner, subscribed_atom_v);
                                  },
                              .on_down =
                                  [self, owner](const caf::error& reason) {
                                    compat::send(self, owner, lost_atom_v, reason);
                                  }}),
               {.name = "relay", .capacity = capacity});
  return in.handlers([self, fanout, owner, id](finish_atom) {
    // The fanout answers behind what it was sent before, so all of that is acknowledged by then.
    compat::request(self, fanout, caf::infinite, ds::settle_atom_v).then([self, owner, id](bool) {
      compat::send(self, owner, relayed_atom_v, *id);
    });
  });
}
