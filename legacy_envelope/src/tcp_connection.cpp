#include "tcp_connection.hpp"

#include <datastream/log_sink.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <new>
#include <span>

namespace datastream {

void TcpConnection::read() noexcept {
  const std::span<char> room = framing_.room();
  if (room.empty())
    return close(&ConnectionCounts::out_of_memory);
  try {
    socket_.async_read_some(
        boost::asio::buffer(room.data(), room.size()),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
          self->on_read(error, bytes);
        });
  } catch (const std::bad_alloc&) {
    close(&ConnectionCounts::out_of_memory);
  }
}

void TcpConnection::on_read(const boost::system::error_code& error, std::size_t bytes) noexcept {
  framing_.fill(bytes);
  while (const auto envelope = framing_.next())
    intake_.add(*envelope, framing_.block());
  intake_.hand_on(framing_.block());
  if (error || framing_.over_maximum())
    return close(why_ended(error));
  read();
}

TcpConnection::End TcpConnection::why_ended(const boost::system::error_code& error) const noexcept {
  if (framing_.over_maximum())
    return &ConnectionCounts::over_maximum;
  if (framing_.incomplete() > 0)
    return &ConnectionCounts::cut_short;
  return error == boost::asio::error::eof ? &ConnectionCounts::ended : &ConnectionCounts::broken;
}

void TcpConnection::close(End end) noexcept {
  boost::system::error_code ignored;
  static_cast<void>(socket_.close(ignored));
  counts_.change([&](ReceiverLedger& ledger) {
    --ledger.connections.open;
    ++(ledger.connections.*end);
  });
  try {
    if (handlers_.on_left)
      handlers_.on_left(intake_.peer());
  } catch (...) { // the program's; nothing was lost
    log_message(LogSeverity::error, "on_left of a tcp receiver threw");
  }
}

} // namespace datastream
