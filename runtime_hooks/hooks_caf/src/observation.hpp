#pragma once
/// What an `ActorObserver` shares with the actors that it observes.

#include <datastream/hooks_caf/actor_stats.hpp>
#include <datastream/hooks_caf/observe_options.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace datastream::detail {

using ActorStatsPtr = std::shared_ptr<ActorStats>;

/// Collects which actors have run, and reports them from a thread of its own.
///
/// Thread safety: every function may be called from any thread.
class Observation : public std::enable_shared_from_this<Observation> {
public:
  explicit Observation(ObserveOptions options);
  ~Observation();

  const ObserveOptions& options() const noexcept { return options_; }
  const std::atomic<std::uint32_t>& epoch() const noexcept { return epoch_; }

  /// The actor has run on this worker since the last report. Returns the epoch that this was noted
  /// in.
  std::uint32_t ran(std::size_t worker, ActorStatsPtr actor);
  /// The name of a message type, for as long as this lives.
  const std::string* intern(std::uint64_t type, std::string name);

  void report_to(std::shared_ptr<StatsHook> hook);
  /// Ends the reporting thread.
  void stop();

private:
  using Ran = std::map<std::size_t, std::vector<ActorStatsPtr>>; // by worker

  void start();
  void report_until(const std::stop_token& stop);
  void report(const Ran& ran);
  void report(std::size_t worker, const std::vector<ActorStatsPtr>& actors);

  const ObserveOptions options_;
  std::atomic<std::uint32_t> epoch_{1};

  std::mutex mutex_; // guards the three below; the epoch moves with it held
  std::condition_variable_any changed_;
  bool reporting_ = false; // else nobody would ever take what is noted
  Ran ran_;
  std::unordered_map<std::uint64_t, std::string> type_names_;
  std::uint64_t reports_ = 0; // of the reporting thread

  std::mutex hook_mutex_; // held while the hook is called
  std::shared_ptr<StatsHook> hook_;

  std::mutex change_mutex_; // taken first, and held while the thread is started or ends
  std::jthread reporter_;   // last: it uses all the others
};

} // namespace datastream::detail
