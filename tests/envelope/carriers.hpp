#pragma once
/// What tests of carriers share: batches, a taker that records, and raw sockets.

#include <eventually.hpp>

#include <datastream/envelope/carrier.hpp>
#include <datastream/envelope/codec.hpp>
#include <datastream/model/frame_batch.hpp>

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <cstdint>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace datastream::test {

/// Frames `first` to `first + count - 1` of a stream, each with a payload that says which it is.
inline FrameBatch some_frames(const StreamId& stream, std::uint64_t first, std::size_t count,
                              std::size_t payload_bytes = 16) {
  std::vector<Frame> frames;
  for (std::uint64_t at = first; at < first + count; ++at) {
    std::string payload = std::to_string(at);
    payload.resize(payload_bytes, static_cast<char>(at));
    frames.push_back({{static_cast<std::uint32_t>(at % 7)}, {at}, std::move(payload)});
  }
  return FrameBatch::copy_of(stream, frames);
}

inline std::vector<Delivery> deliveries_of(const FrameBatch& batch) {
  std::vector<Delivery> deliveries;
  for (const FrameView& frame : batch)
    deliveries.push_back({batch.stream(), frame.to_frame()});
  return deliveries;
}

inline std::string envelope_of(const Delivery& delivery) {
  std::string bytes;
  const Frame& frame = delivery.frame;
  REQUIRE(
      encode_envelope(bytes, delivery.stream, {frame.channel, frame.position, frame.payload, {}}));
  return bytes;
}

inline std::string framed(std::string_view envelope) {
  const auto length = static_cast<std::uint32_t>(envelope.size());
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(length >> shift);
  return bytes + std::string(envelope);
}

/// Takes what a receiver hands on.
class Taker {
public:
  ReceiverHandlers handlers() {
    return {
        .on_batch = [this](const std::string& peer, const FrameBatch& batch) { take(peer, batch); },
        .on_left =
            [this](const std::string& peer) {
              const std::lock_guard lock(mutex_);
              left_.push_back(peer);
            }};
  }

  /// Holds up the receiver until the lock is let go of.
  std::unique_lock<std::mutex> block() { return std::unique_lock(gate_); }

  std::vector<Delivery> frames() const {
    const std::lock_guard lock(mutex_);
    return frames_;
  }
  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return frames_.size();
  }
  /// Frames by the peer that they came from.
  std::map<std::string, std::vector<Delivery>> by_peer() const {
    const std::lock_guard lock(mutex_);
    return by_peer_;
  }
  std::vector<std::string> left() const {
    const std::lock_guard lock(mutex_);
    return left_;
  }
  bool has(std::size_t frames) const {
    return eventually([&] { return count() >= frames; });
  }

private:
  void take(const std::string& peer, const FrameBatch& batch) {
    const std::lock_guard gate(gate_);
    const std::lock_guard lock(mutex_);
    for (Delivery& delivery : deliveries_of(batch)) {
      by_peer_[peer].push_back(delivery);
      frames_.push_back(std::move(delivery));
    }
  }

  std::mutex gate_;
  mutable std::mutex mutex_;
  std::vector<Delivery> frames_;
  std::map<std::string, std::vector<Delivery>> by_peer_;
  std::vector<std::string> left_;
};

/// A socket of the system's, on the loopback interface.
class RawSocket {
public:
  explicit RawSocket(int kind) : fd_(socket(AF_INET, kind | SOCK_CLOEXEC, 0)) { REQUIRE(fd_ >= 0); }
  RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawSocket& operator=(RawSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~RawSocket() { close(); }

  static RawSocket connected(int kind, std::uint16_t port) {
    RawSocket made(kind);
    made.connect_to(port);
    return made;
  }
  /// Bound to a port, 0 for any; also listening if it is one of TCP.
  static RawSocket bound(int kind, std::uint16_t port = 0) {
    RawSocket made(kind);
    const int yes = 1;
    if (kind == SOCK_STREAM)
      REQUIRE(setsockopt(made.fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
    const sockaddr_in at = loopback(port);
    REQUIRE(bind(made.fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    if (kind == SOCK_STREAM)
      REQUIRE(listen(made.fd_, 8) == 0);
    return made;
  }
  /// The next connection of a listening socket.
  RawSocket accepted() const {
    RawSocket made(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC), Adopt{});
    REQUIRE(made.fd_ >= 0);
    return made;
  }

  void connect_to(std::uint16_t port) const {
    const sockaddr_in to = loopback(port);
    REQUIRE(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  }
  int fd() const { return fd_; }
  std::uint16_t port() const {
    sockaddr_in at{};
    socklen_t length = sizeof at;
    REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &length) == 0);
    return ntohs(at.sin_port);
  }
  void send(std::string_view bytes) const {
    do { // an empty datagram is one, too
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      REQUIRE(sent >= 0);
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } while (!bytes.empty());
  }
  /// Reads to the end of the connection; false when it broke.
  bool read_to_end() const {
    char bytes[4096];
    ssize_t got = 0;
    while ((got = ::recv(fd_, bytes, sizeof bytes, 0)) > 0) {
    }
    return got == 0;
  }
  void close() {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }

private:
  struct Adopt {};
  RawSocket(int fd, Adopt) : fd_(fd) {}
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
  }

  int fd_ = -1;
};

} // namespace datastream::test
