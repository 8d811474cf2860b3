#pragma once
/// Envelopes to a peer over UDP: one datagram each.

#include <datastream/defaults.hpp>
#include <datastream/envelope/carrier.hpp>
#include <datastream/envelope/sender.hpp>
#include <datastream/model/frame_batch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

namespace datastream {

/// Largest envelope that a datagram carries, in bytes: that of IPv4.
inline constexpr std::size_t datagram_bytes_max = 65'507;

struct UdpPeer {
  /// An address, or a name, which is looked up once: the first address of it that can be reached.
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  SendBounds queue{};
  /// Bytes that the kernel is asked to buffer; it gives what its limits allow.
  std::size_t send_buffer = defaults::datagram_buffer;
};

/// Sends each frame as a datagram. Larger envelopes than `datagram_bytes_max` are lost and counted.
/// Nothing tells whether a datagram arrives; a peer that is not there costs nothing and is counted
/// where its kernel says so.
///
///     auto sender = UdpSender::open({.host = "127.0.0.1", .port = 4711});
///     if (!sender)
///       return fail(sender.error().message);
///     (*sender)->send(batch);
class UdpSender final : public EnvelopeSender {
public:
  /// Looks the host up, which may take seconds, and starts the sender's thread.
  static std::expected<std::unique_ptr<UdpSender>, CarrierError> open(const UdpPeer& peer);
  /// What is still queued is lost, and logged: flush before.
  ~UdpSender() override;

  std::size_t send(const FrameBatch& batch) noexcept override;
  bool flush(std::chrono::milliseconds deadline) override;
  SenderLedger ledger() const override;

private:
  struct State;
  explicit UdpSender(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace datastream
