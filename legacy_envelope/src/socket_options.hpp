#pragma once
/// Options of sockets that Asio has no names for.

#include <datastream/envelope/tcp_keepalive.hpp>

#include <cstddef>
#include <cstdint>

namespace datastream {

/// Asks for a buffer, beyond the limits for ordinary programs where the system lets us.
void set_send_buffer(int socket, std::size_t bytes) noexcept;
void set_receive_buffer(int socket, std::size_t bytes) noexcept;
std::size_t receive_buffer_of(int socket) noexcept;

/// Datagrams that the kernel has dropped at this socket, modulo 2^32; 0 where it does not tell.
std::uint32_t dropped_datagrams(int socket) noexcept;

bool is_valid(const TcpKeepalive& keepalive) noexcept;
/// As far as the system can.
void set_keepalive(int socket, const TcpKeepalive& keepalive) noexcept;

} // namespace datastream
