#pragma once
/// What a program holds of its stream.

#include <datastream/actors/endpoint_options.hpp>
#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/pipe/endpoint.hpp>

#include <caf/fwd.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace datastream {

/// Opens a stream in an actor system and owns it.
///
///     Endpoint node{system, {.node = "demo"}};
///     DatastreamProducer out = node.producer();   // for actors and threads that emit
///     EndpointRef ref = node.ref();               // for actors that subscribe
///
/// Ownership: move-only. Destroy or close it before the actor system: the system waits for all its
/// actors, and this one ends with its owner. Producers may outlive it; they are refused then.
/// Thread safety: every function but the moves may be called from any thread; `close` and
/// destruction block, so not from an actor that subscribes to it.
class Endpoint {
public:
  /// Opens the stream and spawns its actor, detached.
  Endpoint(caf::actor_system& system, EndpointOptions options);
  Endpoint(Endpoint&&) noexcept;
  Endpoint& operator=(Endpoint&& other) noexcept;
  /// Closes with the deadline of its options.
  ~Endpoint();

  const StreamId& stream_id() const noexcept;
  DatastreamProducer producer() const;
  /// For actors, here or, once published, elsewhere. Refers to nobody once closed.
  EndpointRef ref() const;

  /// For threads of this process; see `DatastreamEndpoint::subscribe`.
  DatastreamSubscription subscribe(std::string name,
                                   SubscriptionRequest request = SubscriptionRequest::all(),
                                   SubscriberCapacity capacity = {});

  /// Submits a health record on `datastream.health`. False: refused and counted.
  bool submit_health();
  /// The whole ledger, in one cut. Also after `close`.
  PipeLedger ledger() const;

  /// Ends the stream; see `DatastreamEndpoint::end_stream`. The actor does it, and still answers
  /// afterwards.
  void end_stream();
  /// Ends the stream, waits until every subscriber actor has acknowledged what it was sent, at
  /// most until `deadline`, stops the actor and waits for it. Returns whether all was acknowledged;
  /// what was not is abandoned, and counted so. Called again, it returns the same at once.
  bool close(std::chrono::milliseconds deadline);
  bool close();

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace datastream
