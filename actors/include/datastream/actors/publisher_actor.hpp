#pragma once
/// Streams by name, for subscribers of other processes.

#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/monitors.hpp>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/fwd.hpp>
#include <caf/result.hpp>

#include <expected>
#include <map>
#include <string>

namespace datastream {

/// A directory of endpoints and fanouts, in the protocol `datastream-publisher`. One port and one
/// publisher serve any number of streams; who is offered and ends is withdrawn. Messages:
///
///     offer_atom, std::string name, caf::actor -> bool, or name_taken, no_actor, not_local
///     withdraw_atom, std::string name          -> bool: whether it was there; or not_local
///     find_atom, std::string name              -> caf::actor, or unknown_name
///     names_atom                               -> OfferedNames
///
/// An empty name finds the only stream that is offered. `Publisher` spawns it.
class PublisherActor : public caf::event_based_actor {
public:
  explicit PublisherActor(caf::actor_config& config);

  const char* name() const override { return "datastream-publisher"; }
  caf::behavior make_behavior() override;
  void on_exit() override;

private:
  struct Offer {
    Offer(const caf::actor& offered, const caf::actor& self, const std::string& name)
        : actor(offered), watch(offered, self, down_atom_v, name) {}
    caf::actor actor;
    compat::TicketedDownWatch watch;
  };

  caf::result<bool> offer(const std::string& name, const caf::actor& actor);
  caf::result<bool> withdraw(const std::string& name);
  caf::result<caf::actor> find(const std::string& name) const;

  std::map<std::string, Offer> offers_;
};

/// What a program holds of a publisher.
///
///     Publisher publisher{system};
///     publisher.offer("demo", node.ref());
///     auto port = publish(system, publisher.actor(), 4242);
///     // elsewhere: in.subscribe(RemoteEndpoint{"host", 4242, "demo"}, print);
///
/// Ownership: move-only; its end stops the actor. Destroy it before the actor system.
/// Thread safety: from any thread; `offer` and `withdraw` block until the publisher has answered,
/// for a short while.
class Publisher {
public:
  explicit Publisher(caf::actor_system& system);
  Publisher(Publisher&& other) noexcept;
  Publisher& operator=(Publisher&& other) noexcept;
  ~Publisher();

  const caf::actor& actor() const noexcept { return actor_; }

  /// Offers a stream; its node's name is the usual name. Offering the same again is harmless.
  /// Errors: `name_taken`; `no_actor` when the endpoint is closed.
  std::expected<void, caf::error> offer(const std::string& name, const EndpointRef& endpoint);
  /// Returns whether it was offered. Subscriptions stay.
  bool withdraw(const std::string& name);

private:
  void stop() noexcept;

  caf::actor_system* system_;
  caf::actor actor_;
};

} // namespace datastream
