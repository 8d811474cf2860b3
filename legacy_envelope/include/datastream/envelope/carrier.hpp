#pragma once
/// What all carriers of envelopes share: why one cannot be opened, what it hands on, what it
/// counts.

#include <datastream/envelope/codec.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/loss_reason.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace datastream {

/// Why a carrier cannot be opened.
struct CarrierError {
  enum class Kind {
    bad_address,    ///< the text is no IPv4 or IPv6 address
    not_loopback,   ///< others than this machine could reach the address: set `any_interface`
    cannot_resolve, ///< no address is known for the host
    cannot_bind,    ///< the port is taken, or the address is not this machine's or closed to us
    bad_option,     ///< a bound or time for which nothing would work
    system,         ///< the system refused: descriptors, memory, threads
  };
  Kind kind;
  std::string message; ///< names the host or address, and says what the system said
  friend bool operator==(const CarrierError&, const CarrierError&) = default;
};

std::string_view to_string(CarrierError::Kind kind);

/// Where a receiver hands on what came. Called on the receiver's own thread, one call at a time;
/// must not destroy the receiver.
struct ReceiverHandlers {
  /// Frames of one stream from one peer, in the order in which they came; `peer` is a text such as
  /// `udp 127.0.0.1:4711` or `tcp [::1]:4711`. May keep the batch. May block: nothing is received
  /// meanwhile, so a slow taker slows peers on TCP, and on UDP makes the kernel drop datagrams,
  /// which are counted. One that throws loses the batch, and it is counted.
  std::function<void(const std::string& peer, const FrameBatch& batch)> on_batch{};
  /// A connection is gone, after its last batch. Not called for one that was closed at once, and
  /// never for UDP, where nobody knows who left. May be empty.
  std::function<void(const std::string& peer)> on_left{};
};

/// Envelopes that were none, by `EnvelopeError`.
struct MalformedCounts {
  std::uint64_t truncated = 0;
  std::uint64_t not_utf8 = 0;
  std::uint64_t trailing_bytes = 0;

  /// Counts an error of `decode_envelope`.
  void count(EnvelopeError error) noexcept;
  MalformedCounts& operator+=(const MalformedCounts& other) noexcept;
  std::uint64_t total() const { return truncated + not_utf8 + trailing_bytes; }
  friend bool operator==(const MalformedCounts&, const MalformedCounts&) = default;
};

/// Connections of a TCP receiver.
struct ConnectionCounts {
  std::uint64_t accepted = 0;      ///< by the system; what became of them follows
  std::uint64_t not_allowed = 0;   ///< closed at once: not on the allow-list
  std::uint64_t too_many = 0;      ///< closed at once: as many as may be were open
  std::uint64_t open = 0;          ///< now
  std::uint64_t ended = 0;         ///< by the peer, after a complete envelope
  std::uint64_t cut_short = 0;     ///< ended or broke within an envelope, which is lost
  std::uint64_t broken = 0;        ///< reset, or silent for longer than a live peer is
  std::uint64_t over_maximum = 0;  ///< closed: an envelope larger than the maximum was announced
  std::uint64_t out_of_memory = 0; ///< closed: there was no memory to receive into

  /// accepted = all others together
  bool balanced() const {
    return accepted == not_allowed + too_many + open + ended + cut_short + broken + over_maximum +
                           out_of_memory;
  }
  friend bool operator==(const ConnectionCounts&, const ConnectionCounts&) = default;
};

/// What a receiver counts. One cut: the counters belong together.
struct ReceiverLedger {
  std::uint64_t received = 0;       ///< envelopes that arrived whole: datagrams, or by their length
  MalformedCounts malformed;        ///< received, and no envelopes
  std::uint64_t not_allowed = 0;    ///< received from addresses that are not on the allow-list; UDP
  std::uint64_t out_of_memory = 0;  ///< received, and lost for want of memory
  std::uint64_t handler_failed = 0; ///< received, and lost in an `on_batch` that threw
  std::uint64_t held = 0;           ///< received and still on their way to the handler
  std::uint64_t handed_on = 0;      ///< received, and taken by the handler
  /// Datagrams that the kernel dropped because nobody took them in time, as far as it tells. They
  /// never were received. UDP.
  std::uint64_t kernel_dropped = 0;
  ConnectionCounts connections; ///< TCP
  /// Attempts to accept that failed, for want of descriptors or memory; the peer waits, or at worst
  /// is let go. TCP.
  std::uint64_t accept_failures = 0;

  /// received = malformed + not allowed + out of memory + handler failed + held + handed on; and
  /// the connections are balanced.
  bool balanced() const;
  friend bool operator==(const ReceiverLedger&, const ReceiverLedger&) = default;
};

/// Frames that a sender lost, by reason.
struct SendLosses {
  std::uint64_t send_queue_full = 0;    ///< the queue's bound in frames or bytes was reached
  std::uint64_t envelope_too_large = 0; ///< larger than the carrier takes
  /// On their way when the connection broke: in the write under way, TCP; unanswered, actors.
  std::uint64_t connection_broken = 0;
  std::uint64_t not_encodable = 0;  ///< the codec refused: the node's name is no text
  std::uint64_t kernel_refused = 0; ///< the kernel did not take the datagram; UDP
  std::uint64_t peer_refused = 0;   ///< the peer answered with an error; actors
  std::uint64_t out_of_memory = 0;

  /// The count for a reason of a sender; 0 for every other.
  std::uint64_t count(LossReason reason) const;
  std::uint64_t total() const {
    return send_queue_full + envelope_too_large + connection_broken + not_encodable +
           kernel_refused + peer_refused + out_of_memory;
  }
  friend bool operator==(const SendLosses&, const SendLosses&) = default;
};

/// What a sender counts, in frames. One cut: the counters belong together.
struct SenderLedger {
  std::uint64_t offered = 0; ///< given to `send`
  /// Handed to the kernel, and whether they arrive nobody here knows; or answered by an actor.
  std::uint64_t sent = 0;
  std::uint64_t queued = 0; ///< accepted and not yet sent or lost
  SendLosses lost;
  std::uint64_t connects = 0;    ///< connections that were made; TCP and actors
  std::uint64_t broken = 0;      ///< connections that ended or broke; TCP and actors
  std::uint64_t unreachable = 0; ///< reports that nobody takes datagrams there, at least; UDP

  /// offered = sent + queued + lost
  bool balanced() const { return offered == sent + queued + lost.total(); }
  friend bool operator==(const SenderLedger&, const SenderLedger&) = default;
};

} // namespace datastream
