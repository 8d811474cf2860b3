#pragma once
/// What of the frames that legacy peers send is let in.

#include <datastream/defaults.hpp>
#include <datastream/envelope/position_set.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace datastream {

struct AdmissionOptions {
  /// Refuse frames of a stream that another peer is sending, instead of only counting them.
  bool refuse_contested = false;
  /// Silence after which a peer's claim to a stream is over.
  std::chrono::steady_clock::duration claim_silence = defaults::claim_silence;
  /// Streams that are known at a time. Who they are is a peer's choice, so there is a bound; at it
  /// those that were silent for `claim_silence` are forgotten.
  std::size_t streams_max = defaults::admission_streams;
};

/// What became of the frames that arrived.
struct AdmissionLedger {
  std::uint64_t arrived = 0;
  std::uint64_t admitted = 0;
  std::uint64_t duplicates = 0;        ///< were admitted before, whoever sent them
  std::uint64_t returned = 0;          ///< of a stream that does not come from legacy peers
  std::uint64_t refused_contested = 0; ///< of a stream that another peer was sending
  std::uint64_t too_many_streams = 0;  ///< of a stream for which there was no room
  std::uint64_t out_of_memory = 0;
  /// Of a stream that another peer was sending, refused or not: they are in one of the counts
  /// above as well.
  std::uint64_t contested = 0;

  /// arrived = admitted + duplicates + returned + refused_contested + too_many_streams +
  /// out_of_memory
  bool balanced() const {
    return arrived ==
           admitted + duplicates + returned + refused_contested + too_many_streams + out_of_memory;
  }
  friend bool operator==(const AdmissionLedger&, const AdmissionLedger&) = default;
};

/// Who sent something: a way by which frames arrive, and a name that is unique there.
struct PeerName {
  std::size_t link = 0;
  std::string name;
  friend bool operator==(const PeerName&, const PeerName&) = default;
};

/// Stands where frames of legacy peers enter. An envelope says whose frame it is and nothing proves
/// it, and peers may be bridges that send back what they got from us. So every frame is let in
/// once, no frame of a stream that is here already, and a second peer that sends a stream is
/// noticed.
///
/// A peer claims a stream with its first frame of it, until it leaves or is silent.
///
/// Thread safety: one owner.
class FrameAdmission {
public:
  using Time = std::chrono::steady_clock::time_point;

  explicit FrameAdmission(AdmissionOptions options = {}) : options_(options) {}

  /// Appends to `admitted` the frames of `batch` that are let in, in runs that share its memory.
  void admit(const PeerName& peer, const FrameBatch& batch, Time now,
             std::vector<FrameBatch>& admitted) noexcept;

  /// The peer sends no more: its claims are free.
  void peer_left(const PeerName& peer);

  /// Frames of this stream do not come from peers: whatever they send of it is refused, unless
  /// some of it was let in before. Returns whether it is refused.
  bool keep_out(const StreamId& stream);

  /// Who claims a stream, or was the last to; null when nothing of it was let in.
  const PeerName* sender_of(const StreamId& stream) const;

  const AdmissionLedger& ledger() const noexcept { return ledger_; }

private:
  struct Stream {
    PeerName peer;
    bool claimed = true; // false: its peer has left
    Time last_frame;
    PositionSet seen{defaults::admission_runs};
  };

  Stream* open(const StreamId& id, const PeerName& peer, Time now);
  bool make_room(Time now);

  AdmissionOptions options_;
  std::map<StreamId, Stream> streams_;
  std::set<StreamId> kept_out_;
  Time full_until_{}; // no stream can be forgotten before
  AdmissionLedger ledger_;
};

} // namespace datastream
