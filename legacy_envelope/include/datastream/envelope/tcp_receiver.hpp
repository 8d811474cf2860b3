#pragma once
/// Envelopes from peers over TCP: each after its length.

#include <datastream/defaults.hpp>
#include <datastream/envelope/carrier.hpp>
#include <datastream/envelope/tcp_keepalive.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace datastream {

struct TcpListen {
  std::string address = "127.0.0.1"; ///< an IPv4 or IPv6 address, no name
  std::uint16_t port = 0;            ///< 0: any that is free
  /// Addresses that may connect; others are closed at once and counted. Empty: everybody who
  /// reaches the address.
  std::vector<std::string> allow{};
  /// Permits an address that other machines reach.
  bool any_interface = false;
  /// Largest envelope, in bytes without its length. A connection that announces a larger one is
  /// closed.
  std::size_t envelope_max = defaults::envelope_bytes_max;
  /// Connections at the same time. Each holds at most what two of the largest envelopes take,
  /// and only once their bytes have arrived; one that is idle between envelopes less than half a
  /// megabyte.
  std::size_t connections_max = defaults::tcp_connections;
  TcpKeepalive keepalive{};
};

/// Takes envelopes from any number of connections and hands them on in batches. Bytes in a correct
/// frame that are no envelope are counted, and the connection goes on.
///
///     auto receiver = TcpReceiver::open({.port = 4711}, {.on_batch = store});
///     if (!receiver)
///       return fail(receiver.error().message);
///
/// Thread safety: all functions may be called from any thread.
class TcpReceiver {
public:
  /// Binds, and starts the receiver's thread.
  static std::expected<std::unique_ptr<TcpReceiver>, CarrierError> open(const TcpListen& listen,
                                                                        ReceiverHandlers handlers);
  /// Waits until a handler that runs has returned, closes all connections and ends the thread.
  /// `on_left` is not called for them.
  ~TcpReceiver();
  TcpReceiver(const TcpReceiver&) = delete;
  TcpReceiver& operator=(const TcpReceiver&) = delete;

  std::uint16_t port() const;
  ReceiverLedger ledger() const;

private:
  struct State;
  explicit TcpReceiver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace datastream
