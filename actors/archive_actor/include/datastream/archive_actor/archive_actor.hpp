#pragma once
/// An actor that keeps what it receives in an archive.

#include <datastream/actors/subscriber.hpp>
#include <datastream/archive/archive.hpp>
#include <datastream/archive_actor/type_ids.hpp>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <expected>
#include <filesystem>

namespace datastream {

/// When the archive tells its sources that it has something.
enum class ArchiveAcknowledges {
  taken, ///< as soon as it is in the group that will be committed next
  /// Only when a power cut cannot take it back; or when it was counted as not stored, for holding
  /// it back would not bring it there.
  durable,
};

struct ArchiveActorOptions {
  ArchiveOptions archive{}; ///< but for `events`, which the actor uses itself
  ArchiveAcknowledges acknowledges = ArchiveAcknowledges::taken;
  /// How it subscribes. Asks for everything: frames of channels that a request left out could not
  /// be named.
  Subscribe subscribe{.name = "archive"};
};

/// Opens an archive and spawns the actor that owns it: detached, for it waits for the disk. Opening
/// may take as long as recovery does.
///
/// The actor stores every delivery, then acknowledges it. Messages, with their replies:
///
///     follow_atom, caf::actor endpoint -> SubscriptionStart
///     publish_atom, EventBatch         -> EndpointTick: what was acknowledged is `delivered`, what
///                                         is not stored is `dropped_for_subscribers`
///     publish_atom, SubscriptionStart  -> EndpointTick
///     flush_atom                       -> uint64_t: the last sequence, once what came before is
///                                         durable or was counted as not stored
///     ledger_atom                      -> ArchiveStatus
///
/// The messages with `publish_atom` are those of a fanout actor: `republish`, a sink or a bridge
/// take an archive as well, and a consumer is given one with `ConsumerOptions::archive`.
///
/// Nobody waits for the disk but this actor's own thread. A source that is too fast for the disk
/// loses frames at its own bound, where they are counted. When the disk is full, frames are counted
/// as not stored and acknowledged; the log sink says so, and says when it is over.
///
/// With `ArchiveAcknowledges::durable` a group is committed as soon as half of the window of any of
/// its sources waits for it, so that archive and sources never wait for each other.
///
/// When the actor ends, it closes the archive. Read it with `ArchiveReader`, from anywhere.
/// Errors: those of `Archive::open`. Throws `std::system_error` where CAF can start no thread for
/// the actor, which it then does not take back either.
std::expected<caf::actor, ArchiveError> spawn_archive(caf::actor_system& system,
                                                      const std::filesystem::path& directory,
                                                      ArchiveActorOptions options = {});

} // namespace datastream
