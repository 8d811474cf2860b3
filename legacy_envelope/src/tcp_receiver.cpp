#include <datastream/envelope/tcp_receiver.hpp>

#include "addresses.hpp"
#include "carrier_loop.hpp"
#include "envelope_maximum.hpp"
#include "failure.hpp"
#include "intake.hpp"
#include "socket_options.hpp"
#include "tcp_connection.hpp"

#include <datastream/log_sink.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <new>
#include <utility>

namespace datastream {
namespace {

using boost::asio::ip::tcp;

/// How long to wait when the system cannot accept, for want of descriptors or memory.
constexpr std::chrono::milliseconds pause{100};

} // namespace

struct TcpReceiver::State {
  State(const TcpListen& listen, AllowList allowed, ReceiverHandlers to)
      : options(listen), allow(std::move(allowed)), handlers(std::move(to)) {}

  std::expected<void, CarrierError> bind(const boost::asio::ip::address& address);
  void accept();
  void accept_in_a_moment();
  void on_accepted(const boost::system::error_code& error, tcp::socket socket);
  void admit(tcp::socket socket);
  void recover();

  const TcpListen options;
  const AllowList allow;
  const ReceiverHandlers handlers;
  ReceiverCounts counts;
  std::string name;
  CarrierLoop loop; // and with it go the connections
  tcp::acceptor acceptor{loop.io()};
  std::uint16_t port = 0;
  // Of the loop's thread.
  tcp::endpoint peer;
  boost::asio::steady_timer timer{loop.io()};
  bool failing = false; // the system could not accept the last time
};

std::expected<void, CarrierError>
TcpReceiver::State::bind(const boost::asio::ip::address& address) {
  boost::system::error_code error;
  if (acceptor.open(address.is_v6() ? tcp::v6() : tcp::v4(), error))
    return failure(CarrierError::Kind::system, "cannot open a socket: " + error.message());
  // Connections of an earlier receiver that the kernel still remembers must not be in the way.
  if (acceptor.set_option(tcp::acceptor::reuse_address(true), error) ||
      acceptor.bind({address, options.port}, error) ||
      acceptor.listen(boost::asio::socket_base::max_listen_connections, error))
    return failure(CarrierError::Kind::cannot_bind, "cannot bind tcp " +
                                                        endpoint_text(address, options.port) +
                                                        ": " + error.message());
  port = acceptor.local_endpoint(error).port();
  name = "tcp receiver on " + endpoint_text(address, port);
  return {};
}

void TcpReceiver::State::accept() {
  acceptor.async_accept(peer, [this](const boost::system::error_code& error, tcp::socket socket) {
    if (error != boost::asio::error::operation_aborted)
      on_accepted(error, std::move(socket));
  });
}

void TcpReceiver::State::accept_in_a_moment() {
  timer.expires_after(pause);
  timer.async_wait([this](const boost::system::error_code& error) {
    if (!error)
      accept();
  });
}

void TcpReceiver::State::on_accepted(const boost::system::error_code& error, tcp::socket socket) {
  if (error) {
    // The peer waits in the kernel's queue, and the acceptor stays readable: do not spin.
    if (!std::exchange(failing, true))
      log_message(LogSeverity::error, name + ": cannot accept: " + error.message());
    counts.change([](ReceiverLedger& ledger) { ++ledger.accept_failures; });
    return accept_in_a_moment();
  }
  admit(std::move(socket));
  if (std::exchange(failing, false))
    log_message(LogSeverity::info, name + ": accepts again");
  accept();
}

/// Begins anew after something threw: accepting, for connections let nothing through. What was
/// begun then is over, or is ended here.
void TcpReceiver::State::recover() {
  counts.change([](ReceiverLedger& ledger) { ++ledger.accept_failures; });
  boost::system::error_code ignored;
  static_cast<void>(acceptor.cancel(ignored));
  timer.cancel();
  accept();
}

/// Lets the connection that was accepted in, or closes it.
void TcpReceiver::State::admit(tcp::socket socket) {
  const bool allowed = allow.allows(peer.address());
  bool admitted = false;
  counts.change([&](ReceiverLedger& ledger) {
    ConnectionCounts& connections = ledger.connections;
    ++connections.accepted;
    admitted = allowed && connections.open < options.connections_max;
    ++(admitted ? connections.open : allowed ? connections.too_many : connections.not_allowed);
  });
  if (!admitted)
    return;
  set_keepalive(socket.native_handle(), options.keepalive);
  try {
    std::make_shared<TcpConnection>(std::move(socket),
                                    "tcp " + endpoint_text(peer.address(), peer.port()),
                                    options.envelope_max, handlers, counts)
        ->start();
  } catch (const std::bad_alloc&) {
    counts.change([](ReceiverLedger& ledger) {
      --ledger.connections.open;
      ++ledger.connections.out_of_memory;
    });
  }
}

TcpReceiver::TcpReceiver(std::unique_ptr<State> state) : state_(std::move(state)) {}

TcpReceiver::~TcpReceiver() {
  state_->loop.stop();
}

std::expected<std::unique_ptr<TcpReceiver>, CarrierError>
TcpReceiver::open(const TcpListen& listen, ReceiverHandlers handlers) {
  return opened([&]() -> std::expected<std::unique_ptr<TcpReceiver>, CarrierError> {
    const auto bad_option = [](std::string message) {
      return failure(CarrierError::Kind::bad_option, std::move(message));
    };
    if (!handlers.on_batch)
      return bad_option("a receiver without on_batch");
    if (!is_envelope_max(listen.envelope_max))
      return bad_option("no envelope is as small, or its length has more than 32 bits");
    if (listen.connections_max == 0)
      return bad_option("a receiver without connections");
    if (!is_valid(listen.keepalive))
      return bad_option("times of a keepalive are from 1 to 32,767 seconds");
    auto address = listen_address(listen.address, listen.any_interface);
    if (!address)
      return std::unexpected(std::move(address.error()));
    auto allow = AllowList::parse(listen.allow);
    if (!allow)
      return std::unexpected(std::move(allow.error()));
    auto state = std::make_unique<State>(listen, std::move(*allow), std::move(handlers));
    if (auto bound = state->bind(*address); !bound)
      return std::unexpected(std::move(bound.error()));
    state->accept();
    if (auto started = state->loop.start(state->name, [at = state.get()] { at->recover(); });
        !started)
      return std::unexpected(std::move(started.error()));
    return std::unique_ptr<TcpReceiver>(new TcpReceiver(std::move(state)));
  });
}

std::uint16_t TcpReceiver::port() const {
  return state_->port;
}

ReceiverLedger TcpReceiver::ledger() const {
  return state_->counts.now();
}

} // namespace datastream
