#pragma once
/// An actor that stores what it subscribes to, and answers queries.

#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/ingest/consumer.hpp>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/fwd.hpp>
#include <caf/result.hpp>

#include <cstdint>
#include <string>

namespace datastream {

struct ConsumerOptions {
  /// Of every stream; what lies beyond is evicted, lowest positions first.
  Retention retention{};
  /// How it subscribes. Asks for everything: frames of channels that a request left out could not
  /// be named.
  Subscribe subscribe{.name = "consumer"};
  /// An archive's actor, if what is ingested shall be kept: everything goes there as well, and is
  /// acknowledged when the archive has acknowledged it. Or any other actor that takes
  /// `publish_atom`.
  caf::actor archive{};
};

/// Ingests every delivery, then acknowledges it. Should its archive end, it goes on without.
/// Queries are answered in pages, each in one turn, so that none holds up ingest for long.
/// Messages, with their replies:
///
///     follow_atom, caf::actor endpoint                     -> SubscriptionStart
///     publish_atom, EventBatch                             -> EndpointTick
///     publish_atom, SubscriptionStart                      -> EndpointTick
///     streams_atom                                         -> std::vector<StreamId>
///     page_atom, StreamId, Position from, uint32_t at_most -> FramePage, or unknown_stream
///     snapshot_atom, SubscriptionRequest                   -> DatastreamSnapshot
///     ledger_atom, StreamId                                -> IngestLedger, or unknown_stream
///     ledger_atom                                          -> ConsumerLedger
///     forget_atom, StreamId                                -> bool: whether it was known;
///     not_local
///
/// Streams that are over stay until somebody says `forget_atom`, which is taken from the same
/// process only: see `Consumer::forget`.
///
/// The messages with `publish_atom` are those of a fanout actor, for whoever collects frames by
/// other means: `republish` takes a consumer as well. To them it is one subscriber that takes all.
///
/// Spawn it with `spawn_consumer`. Anything that a peer sends broken is refused and counted.
class ConsumerActor : public caf::event_based_actor {
public:
  ConsumerActor(caf::actor_config& config, ConsumerOptions options);

  const char* name() const override { return "datastream.consumer"; }
  caf::behavior make_behavior() override;

private:
  caf::result<SubscriptionStart> follow(const caf::actor& endpoint);
  /// Answers for something that was ingested, once the archive has it.
  template <class Published>
  caf::result<EndpointTick> archived(const Published& published, const EndpointTick& tick);
  void archive_down(const caf::error& reason);
  caf::result<FramePage> page(const StreamId& stream, Position from, std::uint32_t at_most) const;
  caf::result<IngestLedger> ledger(const StreamId& stream) const;
  ConsumerLedger ledger() const;
  caf::result<bool> forget(const StreamId& stream);

  ConsumerOptions options_;
  Consumer consumer_;
  Subscriber subscriber_;
};

caf::actor spawn_consumer(caf::actor_system& system, ConsumerOptions options = {});

} // namespace datastream
