#pragma once
/// A model of a whole pipe: it does actions to a system and says, after each, what must be true.
///
/// It counts for itself. What the system counts is compared with that and never used. Of the
/// invariants of the specification (9.1) it sees
///
///      1 payloads of any kind, also broken ones, come out as they were submitted
///      2 numbers of channels mean something with their streams only: every life numbers anew
///      3 the same name and content give the same id, other content is refused
///    4 5 positions are those of the queue's order, without holes where something was refused
///      6 what was lost is a gap, in stores, pages, logs and lines
///      7 no submission waits: all of this happens in one thread
///      8 stores and views go by position, whatever came when
///      9 lives are streams of their own, in relays and stores
///  10 11 a position is stored once, first come, in whatever order
///     12 frames of channels that nobody registered arrive and are shown raw
///     13 records of other versions decode
///     14 readers that stop, or have no room, lose their own copies only
///
/// and, with a system that has no views, 15.

#include "model_fanout.hpp"
#include "model_store.hpp"
#include "script.hpp"
#include "system.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace datastream::model_test {

/// What a run has come by, summed over its lives: whether a test has tried anything.
struct Reached {
  std::uint64_t lives = 0;
  RefusedCounts refused;
  std::uint64_t assigned = 0;
  std::uint64_t bitbucketed = 0;
  std::uint64_t drained_directly = 0;
  SubscriberCounts readers_of_node;
  SubscriberCounts readers_of_relay;
  std::uint64_t after_end_at_relay = 0;
  std::uint64_t stored = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t late_for_evicted = 0;
  std::uint64_t evicted = 0;
  std::uint64_t missing = 0;
  std::uint64_t forgotten = 0; // streams

  Reached& operator+=(const Reached& other);
};

class PipeModel {
public:
  PipeModel(System& system, const Script& script);

  void act(const Action& action);
  /// What must be true after each action. Throws `Violation`.
  void check();
  /// Everybody reads everything: nobody may lack anything then.
  void finish();
  Reached reached() const;

private:
  /// Something on its way to the collector or to the relay.
  struct Carried {
    std::variant<SubscriptionStart, EventBatch> what;
    Frames frames;
  };

  // what producers do
  void register_channel(std::uint32_t name, std::uint32_t content);
  void submit(const Action& action);
  void submit_many(const Action& action);
  void submit_too_large(const Action& action);
  void submit_to_past_life(const Action& action);
  void submit_health();
  bool admit(ChannelId channel, PayloadPtr payload);
  void refuse(LossReason reason, std::uint64_t frames);

  // what drains
  Frames assign();
  void tick();
  void drain_directly();
  void end();
  void restart(bool crashes);
  void open();
  void publish(ModelFanout& fanout, const Frames& frames);
  void must_tick_so(const EndpointTick& tick, const ModelFanout& fanout, std::size_t drained,
                    std::uint64_t dropped_before) const;

  // what readers do
  ModelFanout& fanout(Stage stage) { return stage == Stage::node ? node_ : relay_; }
  void subscribe(const Action& action);
  void read(const Action& action);
  void leave(const Action& action);
  void acknowledge_wrongly(const Action& action);
  bool pull(ModelFanout& fanout, ModelReader& reader);
  bool acknowledge(ModelFanout& fanout, ModelReader& reader, std::size_t at_most);
  void look(ModelFanout& fanout);
  void look(ModelFanout& fanout, ModelReader& reader);
  void read_everything(ModelFanout& fanout);

  // what becomes of deliveries
  void put_on_the_way(Carried carried);
  void carry(const Action& action, bool again);
  void forge(const Action& action);
  void store(const Carried& carried, StoreAs form);
  void relay(const Carried& carried);

  /// What the present life has come by.
  Reached reached_by_node() const;
  PipeLedger node_ledger() const;
  RelayLedger relay_ledger() const;

  System& system_;
  const System::Abilities abilities_;
  const MuxOptions mux_;

  // the node, in its present life
  StreamDescriptor stream_;
  std::uint64_t lives_ = 0;
  std::map<std::string, ChannelId> names_;
  std::deque<FramePtr> queue_; // positions not yet given
  std::uint64_t queued_units_ = 0;
  RefusedCounts refused_;
  std::uint64_t submitted_ = 0;
  std::uint64_t assigned_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t bitbucketed_ = 0;
  std::uint64_t drained_directly_ = 0;
  bool ended_ = false;
  ModelFanout node_;

  ModelFanout relay_;
  std::uint64_t relay_arrived_ = 0;
  std::uint64_t relay_published_ = 0;
  std::uint64_t relay_bitbucketed_ = 0;

  ModelStore store_;
  std::deque<Carried> way_;
  ReaderKey last_key_ = 0;
  Reached in_past_lives_;
};

/// Does all of a script. A violation says at which step.
Reached run(System& system, const Script& script);

} // namespace datastream::model_test
