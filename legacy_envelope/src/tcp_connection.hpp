#pragma once

#include "intake.hpp"

#include <datastream/envelope/framing.hpp>

#include <utility> // Boost 1.74 forgets it

#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace datastream {

/// One connection of a receiver. It lives as long as it reads; its end is counted and told.
///
/// Thread safety: the receiver's thread only.
class TcpConnection : public std::enable_shared_from_this<TcpConnection> {
public:
  TcpConnection(boost::asio::ip::tcp::socket socket, std::string peer, std::size_t envelope_max,
                const ReceiverHandlers& handlers, ReceiverCounts& counts)
      : socket_(std::move(socket)), handlers_(handlers), counts_(counts), framing_(envelope_max),
        intake_(std::move(peer), handlers, counts) {}

  /// Reads until the connection ends. It has been counted as open.
  void start() noexcept { read(); }

private:
  using End = std::uint64_t ConnectionCounts::*;

  void read() noexcept;
  void on_read(const boost::system::error_code& error, std::size_t bytes) noexcept;
  End why_ended(const boost::system::error_code& error) const noexcept;
  void close(End end) noexcept;

  boost::asio::ip::tcp::socket socket_;
  const ReceiverHandlers& handlers_;
  ReceiverCounts& counts_;
  EnvelopeFraming framing_;
  EnvelopeIntake intake_;
};

} // namespace datastream
