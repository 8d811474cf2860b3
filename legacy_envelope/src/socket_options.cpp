#include "socket_options.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace datastream {
namespace {

bool set(int socket, int level, int option, int value) noexcept {
  return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

void set_buffer(int socket, int forced, int ordinary, std::size_t bytes) noexcept {
  // The kernel doubles what it is given.
  constexpr std::size_t most = std::numeric_limits<int>::max() / 2;
  const int size = static_cast<int>(std::min(bytes, most));
  if (!set(socket, SOL_SOCKET, forced, size))
    set(socket, SOL_SOCKET, ordinary, size);
}

bool is_valid(std::chrono::seconds time) noexcept {
  constexpr std::chrono::seconds longest{32'767}; // the kernel's
  return time >= std::chrono::seconds(1) && time <= longest;
}

} // namespace

void set_send_buffer(int socket, std::size_t bytes) noexcept {
  set_buffer(socket, SO_SNDBUFFORCE, SO_SNDBUF, bytes);
}

void set_receive_buffer(int socket, std::size_t bytes) noexcept {
  set_buffer(socket, SO_RCVBUFFORCE, SO_RCVBUF, bytes);
}

std::size_t receive_buffer_of(int socket) noexcept {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  return getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, &length) == 0
             ? static_cast<std::size_t>(bytes)
             : 0;
}

std::uint32_t dropped_datagrams(int socket) noexcept {
  std::uint32_t memory[SK_MEMINFO_VARS] = {};
  socklen_t length = sizeof memory;
  return getsockopt(socket, SOL_SOCKET, SO_MEMINFO, memory, &length) == 0 ? memory[SK_MEMINFO_DROPS]
                                                                          : 0;
}

bool is_valid(const TcpKeepalive& keepalive) noexcept {
  return is_valid(keepalive.idle) && is_valid(keepalive.interval) && is_valid(keepalive.timeout);
}

void set_keepalive(int socket, const TcpKeepalive& keepalive) noexcept {
  const auto timeout = std::chrono::milliseconds(keepalive.timeout).count();
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(keepalive.idle.count()));
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(keepalive.interval.count()));
  // With it the number of probes says nothing.
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(timeout));
}

} // namespace datastream
