#pragma once
/// Envelopes from peers over UDP: one datagram each.

#include <datastream/defaults.hpp>
#include <datastream/envelope/carrier.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace datastream {

struct UdpListen {
  std::string address = "127.0.0.1"; ///< an IPv4 or IPv6 address, no name
  std::uint16_t port = 0;            ///< 0: any that is free
  /// Addresses that may send; datagrams of others are dropped and counted. Empty: everybody who
  /// reaches the address. A sender's address is what the network says, and can be forged.
  std::vector<std::string> allow{};
  /// Permits an address that other machines reach.
  bool any_interface = false;
  /// Bytes that the kernel is asked to buffer; it gives what its limits allow.
  std::size_t receive_buffer = defaults::datagram_buffer;
};

/// Takes envelopes from any number of peers and hands them on in batches. A batch holds what came
/// from one peer of one stream since the receiver last looked.
///
///     auto receiver = UdpReceiver::open({.port = 4711}, {.on_batch = store});
///     if (!receiver)
///       return fail(receiver.error().message);
///
/// Thread safety: all functions may be called from any thread.
class UdpReceiver {
public:
  /// Binds, and starts the receiver's thread.
  static std::expected<std::unique_ptr<UdpReceiver>, CarrierError> open(const UdpListen& listen,
                                                                        ReceiverHandlers handlers);
  /// Waits until a handler that runs has returned, and ends the thread.
  ~UdpReceiver();
  UdpReceiver(const UdpReceiver&) = delete;
  UdpReceiver& operator=(const UdpReceiver&) = delete;

  std::uint16_t port() const;
  /// Bytes that the kernel buffers, as it counts them: with what it needs for each datagram.
  std::size_t receive_buffer() const;
  ReceiverLedger ledger() const;

private:
  struct State;
  explicit UdpReceiver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace datastream
