#pragma once
/// What of the frames that legacy peers send is let in.

#include <datastream/defaults.hpp>
#include <datastream/envelope/position_set.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace datastream {

struct AdmissionOptions {
  /// Refuse frames of a stream that another peer is sending, instead of only counting them.
  bool refuse_contested = false;
  /// Silence after which a peer's claim to a stream is over.
  std::chrono::steady_clock::duration claim_silence = defaults::claim_silence;
  /// Streams that are known at a time, and bytes that the names of their nodes have together. Who
  /// they are is a peer's choice, so there are bounds; at one of them those that were silent for
  /// `claim_silence` are forgotten.
  std::size_t streams_max = defaults::admission_streams;
  std::size_t names_bytes_max = defaults::admission_names;
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
  friend auto operator<=>(const PeerName&, const PeerName&) = default;
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

  /// The frames of `batch` that are let in, in their order: `batch` itself, or one that shares its
  /// memory for payloads. The name of a stream is in memory once, in all that is let in of it.
  FrameBatch admit(const PeerName& peer, const FrameBatch& batch, Time now) noexcept;

  /// The peer sends no more: its claims are free.
  void peer_left(const PeerName& peer) noexcept;

  /// Frames of this stream do not come from peers: whatever they send of it is refused, unless
  /// some of it was let in before. Returns whether it is refused.
  bool keep_out(const StreamId& stream);
  /// Forgets a stream that is over: what is kept out stays in memory until then. Frames of it that
  /// come later are taken for new ones. Returns whether it was known.
  bool forget(const StreamId& stream) noexcept;

  /// Who claims a stream, or was the last to; null when nothing of it was let in.
  const PeerName* sender_of(const StreamId& stream) const;

  const AdmissionLedger& ledger() const noexcept { return ledger_; }

private:
  using StreamIdPtr = std::shared_ptr<const StreamId>;

  /// One that claims streams, or did until it left.
  struct Peer {
    PeerName name;
    bool has_left = false;
  };
  using PeerPtr = std::shared_ptr<Peer>;

  struct Stream {
    PeerPtr peer{}; // null when there was no memory to note it
    Time last_frame{};
    std::list<const StreamId*>::iterator age{};
    PositionSet seen{defaults::admission_runs};
  };

  /// By what is pointed at.
  struct Less {
    using is_transparent = void;
    static const StreamId* key(const StreamIdPtr& stream) { return stream.get(); }
    static const StreamId* key(const StreamId& stream) { return &stream; }
    static const PeerName* key(const PeerPtr& peer) { return &peer->name; }
    static const PeerName* key(const PeerName& peer) { return &peer; }
    bool operator()(const auto& a, const auto& b) const { return *key(a) < *key(b); }
  };
  using Streams = std::map<StreamIdPtr, Stream, Less>;

  Streams::iterator open(const StreamIdPtr& id, Time now);
  bool has_room(const StreamId& id) const noexcept;
  void forget_silent(Time now) noexcept;
  void forget(Streams::iterator stream) noexcept;
  void claim(Stream& stream, const PeerName& name);
  void let_go(PeerPtr& peer) noexcept;
  FrameBatch let_in(const StreamIdPtr& id, PositionSet& seen, const FrameBatch& batch) noexcept;

  AdmissionOptions options_;
  Streams streams_;
  std::list<const StreamId*> by_age_; // those of `streams_`, by their last frames
  std::size_t names_bytes_ = 0;       // of `streams_`
  std::set<PeerPtr, Less> peers_;     // that claim streams
  std::set<StreamId> kept_out_;
  AdmissionLedger ledger_;
};

} // namespace datastream
