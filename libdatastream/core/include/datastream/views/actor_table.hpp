#pragma once
/// The last that was heard of every actor (specification 8.4).

#include <datastream/defaults.hpp>
#include <datastream/ingest/frame_source.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/records/actors.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace datastream {

/// Reads a payload of `runtime.actors`: ours, and those of other peers, whose actors may lack
/// fields and whose `message_type_counts` may be pairs, `["type", 3]`. Left out is what does not
/// decode: a count, or an actor, which needs an address at least. Never throws on odd input.
/// Errors: not an object with an array of actors, and integers for the rest.
std::expected<ActorsRecord, RecordError> decode_actors(std::string_view payload);

struct ActorState {
  ActorSnapshot last;          ///< as it was in the record at `position`
  std::uint64_t worker_id = 0; ///< who sent that record
  Position position;           ///< of the last record that mentions the actor
  /// The last record that said that it is poisoned; `last` says so ever after, with the reason.
  std::optional<Position> poisoned;
  friend bool operator==(const ActorState&, const ActorState&) = default;
};

/// The actors of one stream, each with its state in the last record that mentions it. A runtime
/// reports an actor while it works, so one that is quiet or gone is not mentioned any more:
/// compare its `position` with `last_record`. An actor that was ever reported poisoned stays so,
/// with its reason; no other record says that it has ended.
///
/// Frames may be given in any order and more than once: positions decide. So a live reader keeps a
/// table and gives it each frame of the channel as it comes.
///
/// Beyond `defaults::actor_table` actors, or `defaults::actor_table_bytes` of memory, those that
/// were not mentioned for longest are forgotten.
///
/// Thread safety: one owner; const functions may run concurrently with each other.
class ActorTable {
public:
  using Actors = std::map<std::string, ActorState, std::less<>>;

  /// Takes one frame of the channel `runtime.actors`; false: it does not decode.
  bool accept(const FrameView& frame);

  /// By address.
  const Actors& actors() const noexcept { return actors_; }
  const ActorState* find(std::string_view address) const;

  /// The highest position of a record that was taken.
  std::optional<Position> last_record() const noexcept { return last_record_; }
  /// What that record says: actors beyond its runtime's bound on how many it reports.
  std::uint64_t omitted_actors() const noexcept { return omitted_; }
  /// Frames that did not decode.
  std::uint64_t undecodable() const noexcept { return undecodable_; }
  /// Actors that were forgotten because there were too many.
  std::uint64_t forgotten() const noexcept { return forgotten_; }

private:
  void merge(ActorSnapshot&& actor, std::uint64_t worker_id, Position position);
  void forget_oldest();

  Actors actors_;
  std::size_t bytes_ = 0; // that they take
  std::optional<Position> last_record_;
  std::uint64_t omitted_ = 0;
  std::uint64_t undecodable_ = 0;
  std::uint64_t forgotten_ = 0;
};

/// The table of everything that is stored on the channel.
template <FrameSource Source>
ActorTable actor_table(const Source& stream, ChannelId channel) {
  ActorTable table;
  for (const FrameView& frame : stream.frames())
    if (frame.channel == channel)
      table.accept(frame);
  return table;
}

} // namespace datastream
