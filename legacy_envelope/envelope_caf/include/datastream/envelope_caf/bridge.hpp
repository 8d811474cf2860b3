#pragma once
/// Connects the streams of an actor system with peers that speak the legacy envelope.

#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/actors/remote.hpp>
#include <datastream/defaults.hpp>
#include <datastream/envelope/admission.hpp>
#include <datastream/envelope/carrier.hpp>
#include <datastream/envelope/tcp_receiver.hpp>
#include <datastream/envelope/tcp_sender.hpp>
#include <datastream/envelope/udp_receiver.hpp>
#include <datastream/envelope/udp_sender.hpp>
#include <datastream/envelope_caf/actor_sender.hpp>
#include <datastream/envelope_caf/messages.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/model/subscription_request.hpp>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace datastream {

/// A neighbour: where frames go to, where they come from, or both. What comes over a link is never
/// sent over the same link.
struct LegacyLink {
  std::variant<std::monostate, UdpPeer, TcpPeer, SinkPeer> send_to{};
  std::variant<std::monostate, UdpListen, TcpListen> listen{};
};

struct BridgeOptions {
  /// Whose frames are sent: an endpoint or a fanout, here or in another process. Needed by links
  /// that send.
  std::variant<std::monostate, EndpointRef, RemoteEndpoint> from{};
  /// Who gets the frames that come: a consumer or a fanout of this system. Needed by links that
  /// listen. When it is the fanout that is also `from`, links reach each other.
  caf::actor into{};
  std::vector<LegacyLink> links{};
  AdmissionOptions admission{};
  /// Names of channels, which envelopes do not have; see `load_catalog`.
  DatastreamSnapshot catalog{};
};

/// What one link has counted.
struct LinkLedger {
  std::optional<SenderLedger> sent{};
  std::optional<ReceiverLedger> received{};
};

/// What a bridge has counted.
struct BridgeLedger {
  SinkLedger arrived{}; ///< what came over all links, and what became of it
  /// Frames that receivers have handed on and that wait to be looked at. Together with
  /// `arrived.carried` and `discarded` all that they have handed on.
  std::uint64_t waiting = 0;
  /// Frames that waited when the bridge was closed, or when `into` was gone.
  std::uint64_t discarded = 0;
  std::vector<LinkLedger> links{}; ///< in the order of the options
};

/// One call connects an endpoint or fanout to legacy peers, and legacy peers to a consumer or a
/// fanout:
///
///     auto out = Bridge::open(system, {.from = node.ref(),
///                                      .links = {{.send_to = UdpPeer{"127.0.0.1", 4711}}}});
///     auto in = Bridge::open(system, {.into = consumer,
///                                     .links = {{.listen = TcpListen{.port = 4712}}}});
///
/// Every frame is let in once, whichever link and whoever brings it, and no frame of a stream that
/// `from` has by other ways: bridges of bridges do not loop. Use one bridge for all links of a
/// fanout; two of them know nothing of each other. Declarations and ends of streams have no form in
/// the envelope and are not sent.
///
/// Never holds up `from`: what a link does not take in time is dropped at its sender and counted.
/// What `into` does not take in time, beyond 64 MiB of memory, holds up the receivers, and so the
/// peers on TCP; on UDP the kernel drops it.
///
/// Ownership: move-only; its end closes all links, whatever was sent by then. Destroy it before the
/// actor system. Thread safety: one thread at a time; not from an actor that shares CAF's workers,
/// for asking and closing wait for the bridge's own threads.
class Bridge {
public:
  /// Opens the carriers, spawns the bridge's actor, and waits until an endpoint of this system that
  /// is `from` has answered: what it is given afterwards is sent. May block while hosts are looked
  /// up. Errors: those of the carriers; `bad_option` for a link that has nothing to send or nobody
  /// to feed, and for an endpoint that is closed.
  static std::expected<Bridge, CarrierError> open(caf::actor_system& system, BridgeOptions options);
  Bridge(Bridge&& other) noexcept;
  Bridge& operator=(Bridge&& other) noexcept;
  ~Bridge();

  /// Takes `DatastreamFrame` as a `SinkActor` does, one link more; null after `close`. Register it,
  /// or publish it, for emitters of other systems.
  const caf::actor& actor() const noexcept;
  /// The port where a link listens; 0 when it does not, or the bridge is closed.
  std::uint16_t port(std::size_t link) const;
  BridgeLedger ledger() const;

  /// Forgets a stream that is over; until then a bridge keeps the name of each that it has sent, so
  /// as to keep its frames out. What peers send of it later is taken for new, so forget it some
  /// time after it has ended. Returns whether it was known.
  bool forget(const StreamId& stream);

  /// Waits until all that was given to the senders has left or is known to be lost, at most until
  /// the deadline; then closes all links. Close an endpoint that is `from` before. Returns whether
  /// all had left, also when it is called again.
  bool close(std::chrono::milliseconds deadline = defaults::close_deadline);

private:
  struct State;
  explicit Bridge(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace datastream
