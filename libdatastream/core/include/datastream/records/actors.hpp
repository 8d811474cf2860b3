#pragma once
/// What a runtime says about its actors (specification 4.3, 5.9): the record on `runtime.actors`.

#include <datastream/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

struct MessageTypeCount {
  std::string ty; ///< as the runtime names the type
  std::uint64_t count = 0;
  friend bool operator==(const MessageTypeCount&, const MessageTypeCount&) = default;
};
DATASTREAM_RECORD(MessageTypeCount, ty, count)

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
DATASTREAM_RECORD(ActorSnapshot, address, name, mailbox_depth, last_msg_type, messages_processed,
                  poisoned, reason, message_type_counts, exact, resumes, busy_us)

/// The actors of one worker, as it reported them at once.
///
/// Reading: `decode_actors` (`views/actor_table.hpp`) also takes the older forms of this record.
struct ActorsRecord {
  static constexpr auto CHANNEL = "runtime.actors";
  std::uint64_t worker_id = 0;
  std::vector<ActorSnapshot> actors;
  std::uint64_t omitted_actors = 0; ///< beyond the runtime's bound on how many it reports
  friend bool operator==(const ActorsRecord&, const ActorsRecord&) = default;
};
DATASTREAM_RECORD(ActorsRecord, worker_id, actors, omitted_actors)

} // namespace datastream
