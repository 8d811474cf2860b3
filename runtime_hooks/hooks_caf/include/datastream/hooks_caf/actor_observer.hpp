#pragma once
/// Observes the actors of one actor system.

#include <datastream/caf/version.hpp>
#include <datastream/hooks/stats_hook.hpp>
#include <datastream/hooks_caf/observe_options.hpp>

#include <caf/fwd.hpp>

#include <memory>

namespace datastream {

namespace detail {
class Observation;
}

/// Makes a CAF program report what its actors do.
///
///     struct Config : caf::actor_system_config {
///       datastream::ActorObserver observer;
///       Config() { observer.install(*this); }
///     };
///     void caf_main(caf::actor_system& system, const Config& config) {
///       datastream::Endpoint node{system, {.node = "demo"}};
///       config.observer.report_to(
///           std::make_shared<datastream::ProducerStatsHook>(node.producer()));
///
/// On CAF 1.x this observes every actor but blocking ones, exactly. CAF 0.17.6 has no place for
/// that: there an actor is observed when it is spawned with `spawn_observed`, and
/// `install_everywhere` sees the others from the scheduler.
///
/// Workers are numbered as CAF numbers them, or on 1.x in the order in which they started; what
/// runs elsewhere, detached actors above all, reports as worker 65535.
///
/// Reports come from a thread of the observer, so that encoding them costs no worker. Nothing is
/// reported while no observed actor runs, and the thread sleeps. An actor that died of an exception
/// or an error is in exactly one more report, with its reason; one that ended well is in at most
/// one.
///
/// A message that an actor skips, or puts off until a response that it awaits, waits on: it is part
/// of the mailbox's depth, and counts once, when it is handled.
///
/// Ownership: must outlive neither the system nor its configuration; actors keep what they need.
/// Thread safety: `report_to` from any thread but the hook's own; the rest while the program is set
/// up.
class ActorObserver {
public:
  explicit ActorObserver(ObserveOptions options = {});
  /// Reports nothing any more.
  ~ActorObserver();
  ActorObserver(const ActorObserver&) = delete;
  ActorObserver& operator=(const ActorObserver&) = delete;

  /// Before an actor system is made of the configuration.
  void install(caf::actor_system_config& config);
  /// `install`, and on CAF 0.17.6 also a scheduler that watches every actor which shares its
  /// workers: how often it was resumed, for how long it ran, and how much waited for it, but
  /// neither what nor how many messages it handled (`ActorSnapshot::exact` is false). Detached
  /// actors are not seen by it.
  void install_everywhere(caf::actor_system_config& config);

  /// Where reports go from now on; null: nowhere. When it returns, the previous hook is called no
  /// more.
  void report_to(std::shared_ptr<StatsHook> hook) const;

private:
  std::shared_ptr<detail::Observation> observation_;
};

} // namespace datastream
