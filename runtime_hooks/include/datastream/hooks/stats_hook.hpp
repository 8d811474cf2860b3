#pragma once
/// What a runtime says about its actors (specification 4.3).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace datastream {

struct MessageTypeCount {
  std::string ty; ///< as the runtime names the type
  std::uint64_t count = 0;
  friend bool operator==(const MessageTypeCount&, const MessageTypeCount&) = default;
};

/// One actor, at one moment.
struct ActorSnapshot {
  std::string address; ///< unique among the actors of one stream
  std::string name;    ///< of its kind, as the program gave it
  std::uint64_t mailbox_depth = 0;
  std::optional<std::string> last_msg_type{};
  std::uint64_t messages_processed = 0;
  bool poisoned = false;                               ///< ended by an exception or an error
  std::optional<std::string> reason{};                 ///< why it is poisoned
  std::vector<MessageTypeCount> message_type_counts{}; ///< most frequent first
  /// False: seen from the scheduler only. Then messages are not counted, but the next two are.
  bool exact = true;
  std::optional<std::uint64_t> resumes{}; ///< how often it got to run
  std::optional<std::uint64_t> busy_us{}; ///< for how long altogether
  friend bool operator==(const ActorSnapshot&, const ActorSnapshot&) = default;
};

/// Called by a runtime that observes its actors.
class StatsHook {
public:
  virtual ~StatsHook() = default;
  /// A worker reports the actors that ran on it. Called on that worker's thread: must not block,
  /// must not throw. `snapshots` is valid during the call. `omitted`: actors beyond the runtime's
  /// bound on how many it reports.
  virtual void on_tick(std::size_t worker_id, std::span<const ActorSnapshot> snapshots,
                       std::size_t omitted) = 0;
};

} // namespace datastream
