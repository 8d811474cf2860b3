#pragma once
/// Envelopes to a peer over TCP: each after its length.

#include <datastream/defaults.hpp>
#include <datastream/envelope/carrier.hpp>
#include <datastream/envelope/sender.hpp>
#include <datastream/envelope/tcp_keepalive.hpp>
#include <datastream/model/frame_batch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

namespace datastream {

struct TcpPeer {
  /// An address, or a name that is looked up for every attempt to connect.
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  SendBounds queue{};
  /// Largest envelope, in bytes without its length: what the peer takes.
  std::size_t envelope_max = defaults::envelope_bytes_max;
  /// Time until a broken connection is made again, the first time; twice as long each time.
  std::chrono::milliseconds retry_first = defaults::retry_first;
  /// The longest such time. A connection that lived longer than it makes the next one the first.
  std::chrono::milliseconds retry_most = defaults::retry_most;
  /// How long one attempt to connect may take.
  std::chrono::milliseconds connect_timeout = defaults::connect_timeout;
  TcpKeepalive keepalive{};
};

/// Keeps a connection to the peer, made in the background and again when it breaks. Meanwhile the
/// queue holds what it can. Larger envelopes than `envelope_max` are lost and counted, and so is
/// what the kernel has not taken of a write when the connection breaks. Bytes from the peer are
/// read and ignored; a peer that closes its side has left.
///
///     auto sender = TcpSender::open({.host = "127.0.0.1", .port = 4711});
///     if (!sender)
///       return fail(sender.error().message);
///     (*sender)->send(batch);
class TcpSender final : public EnvelopeSender {
public:
  /// Looks the host up, which may take seconds, and starts the sender's thread. Does not wait for a
  /// connection.
  static std::expected<std::unique_ptr<TcpSender>, CarrierError> open(const TcpPeer& peer);
  /// What is still queued is lost, and logged: flush before. Waits for a look-up under way.
  ~TcpSender() override;

  std::size_t send(const FrameBatch& batch) noexcept override;
  bool flush(std::chrono::milliseconds deadline) override;
  SenderLedger ledger() const override;
  /// There is a connection now.
  bool connected() const;

private:
  struct State;
  explicit TcpSender(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace datastream
