#pragma once
/// What actors say to each other; `docs/messages.md` has the whole table.

#include <datastream/defaults.hpp>
#include <datastream/ingest/gap.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/model/subscription_request.hpp>
#include <datastream/pipe/subscription.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

/// How a subscriber actor wants to be served.
struct Subscribe {
  std::string name = "subscriber"; ///< shown in ledgers; need not be unique
  SubscriptionRequest request{};
  /// How much may be unacknowledged before copies are dropped; at most
  /// `defaults::subscriber_actor_frames_max` and `subscriber_actor_bytes_max`.
  SubscriberCapacity capacity{defaults::subscriber_actor_frames, defaults::subscriber_bytes};
  /// Chosen by the subscriber; every delivery of this subscription carries it.
  std::uint64_t token = 0;
};

/// A part of a stored stream, in position order, as a consumer answers it.
struct FramePage {
  FrameBatch frames{};
  /// Set when retention has removed what the page was to begin with; then it begins behind that.
  std::optional<EvictedRange> evicted{};
  std::vector<GapSpan> gaps{}; ///< positions missing between stored frames, up to the last one here
  Position next{};             ///< where the following page begins
  bool more = false;           ///< frames are stored from there on
  /// Frames that a peer sent in a page that makes no sense; refused on arrival.
  std::uint64_t malformed = 0;
};

/// Everything that a consumer has counted.
struct ConsumerLedger {
  std::vector<IngestLedger> streams;          ///< in the order of their ids
  ForgottenLedger forgotten;                  ///< of those that it was told to forget
  std::uint64_t malformed_frames = 0;         ///< in batches that make no sense; refused
  std::uint64_t conflicting_declarations = 0; ///< the first one stays
};

/// Everything that a fanout actor has counted, in frames.
struct PublicationLedger {
  std::uint64_t arrived = 0;                  ///< in batches that make sense
  std::uint64_t published = 0;                ///< offered to a fanout that had subscribers
  std::uint64_t bitbucketed = 0;              ///< nobody was subscribed
  std::uint64_t malformed_frames = 0;         ///< in batches that make no sense; refused
  std::uint64_t conflicting_declarations = 0; ///< the first one stays
  FanoutLedger fanout;

  /// arrived = published + bitbucketed + frames after the end of their stream; and the fanout is
  /// balanced.
  bool balanced() const;
  friend bool operator==(const PublicationLedger&, const PublicationLedger&) = default;
};

/// The names under which a publisher offers streams.
struct OfferedNames {
  std::vector<std::string> names; ///< in alphabetical order
  friend bool operator==(const OfferedNames&, const OfferedNames&) = default;
};

/// Why an actor of ours refused a request.
enum class ActorError : std::uint8_t {
  none = 0,
  conflicting_name, ///< a channel's name is registered with other content
  stream_ended,     ///< the stream takes no more channels
  ids_exhausted,    ///< the stream has no channel id left
  unknown_stream,   ///< nothing of this stream has arrived
  not_manual,       ///< this endpoint ticks by itself
  no_subscriber,    ///< a subscription without an actor to send to
  unknown_name,     ///< a publisher offers nothing of this name
  name_taken,       ///< a publisher offers another actor under this name
  not_local,        ///< only actors of the same process may ask for this
  no_actor,         ///< a stream is offered without an actor that serves it
  no_middleman,     ///< the actor system cannot reach others: it has loaded no `io::middleman`
  bad_setting,      ///< a `datastream.*` key has a value of the wrong type or out of range
  out_of_memory,    ///< there is no memory for the answer, or to do what was asked for
};

std::string to_string(ActorError error);

} // namespace datastream
