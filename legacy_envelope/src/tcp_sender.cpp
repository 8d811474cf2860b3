#include <datastream/envelope/tcp_sender.hpp>

#include "carrier_loop.hpp"
#include "envelope_maximum.hpp"
#include "failure.hpp"
#include "outgoing_envelopes.hpp"
#include "send_queue.hpp"
#include "socket_options.hpp"

#include <datastream/log_sink.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <new>
#include <utility>

namespace datastream {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

/// Bytes of one write: where the cost of a system call has vanished.
constexpr std::size_t bytes_at_once = 256U << 10U;

} // namespace

struct TcpSender::State {
  explicit State(const TcpPeer& to)
      : peer(to), name("tcp sender to " + to.host + ':' + std::to_string(to.port)),
        queue(to.queue) {}

  std::expected<tcp::resolver::results_type, error_code> resolve();
  void wake() noexcept;
  void recover();

  void connect();
  void on_connected(const error_code& error);
  void read();
  void pump();
  void on_written(const error_code& error, std::size_t bytes);
  void disconnect(const error_code& why);
  void connect_later(const error_code& why);

  const TcpPeer peer;
  const std::string name;
  SendQueue queue;
  std::atomic<bool> connected{false};
  CarrierLoop loop;
  // Of the loop's thread.
  tcp::socket socket{loop.io()};
  boost::asio::steady_timer timer{loop.io()};
  std::uint64_t attempt = 0; // to connect; what was begun for an earlier one is ignored
  std::uint64_t writes = 0;  // that were begun; only the last one counts
  std::chrono::milliseconds retry = peer.retry_first;
  std::chrono::steady_clock::time_point connected_at;
  bool failing = false; // and that was logged
  bool writing = false;
  OutgoingEnvelopes outgoing{queue,
                             {.envelope_bytes = peer.envelope_max,
                              .frames = std::numeric_limits<std::size_t>::max(),
                              .bytes = bytes_at_once}};
  std::array<char, 1024> ignored{}; // what the peer says
};

std::expected<tcp::resolver::results_type, error_code> TcpSender::State::resolve() {
  error_code error;
  auto found = tcp::resolver(loop.io()).resolve(peer.host, std::to_string(peer.port), error);
  if (error)
    return std::unexpected(error);
  return found;
}

void TcpSender::State::wake() noexcept {
  try {
    boost::asio::post(loop.io(), [this] { pump(); });
  } catch (const std::bad_alloc&) {
    queue.not_woken();
  }
}

/// Begins anew after something threw, whatever that was.
void TcpSender::State::recover() {
  ++attempt;
  ++writes;
  if (std::exchange(writing, false))
    queue.lost(&SendLosses::connection_broken, outgoing.frames());
  if (connected.exchange(false))
    queue.note(&SenderLedger::broken);
  connect_later(boost::asio::error::no_memory);
}

void TcpSender::State::connect() {
  ++attempt;
  const auto found = resolve();
  if (!found)
    return connect_later(found.error());
  timer.expires_after(peer.connect_timeout);
  timer.async_wait([this, begun = attempt](const error_code& error) {
    error_code ignored_error;
    if (!error && begun == attempt && !connected)
      static_cast<void>(socket.close(ignored_error));
  });
  boost::asio::async_connect(
      socket, *found, [this, begun = attempt](const error_code& error, const tcp::endpoint&) {
        if (begun == attempt)
          on_connected(error);
      });
}

void TcpSender::State::on_connected(const error_code& error) {
  if (error == boost::asio::error::operation_aborted || (!error && !socket.is_open()))
    return connect_later(boost::asio::error::timed_out);
  if (error)
    return connect_later(error);
  // Without a listener, a socket that is given the very port that it calls is its own peer.
  error_code gone;
  const bool is_itself = socket.local_endpoint(gone) == socket.remote_endpoint(gone);
  if (gone || is_itself)
    return connect_later(boost::asio::error::connection_refused);
  timer.cancel();
  set_keepalive(socket.native_handle(), peer.keepalive);
  // Several envelopes go with one write as it is.
  static_cast<void>(socket.set_option(tcp::no_delay(true), gone));
  connected = true;
  connected_at = std::chrono::steady_clock::now();
  queue.note(&SenderLedger::connects);
  if (std::exchange(failing, false))
    log_message(LogSeverity::info, name + ": connected");
  read();
  pump();
}

/// Notices when the peer leaves, also while there is nothing to send.
void TcpSender::State::read() {
  socket.async_read_some(boost::asio::buffer(ignored),
                         [this, begun = attempt](const error_code& error, std::size_t) {
                           if (begun != attempt)
                             return;
                           if (error)
                             return disconnect(error);
                           read();
                         });
}

/// Writes what there is, one write at a time.
void TcpSender::State::pump() {
  if (!connected || writing || !outgoing.refill())
    return;
  writing = true;
  boost::asio::async_write(socket, boost::asio::buffer(outgoing.bytes()),
                           [this, begun = ++writes](const error_code& error, std::size_t bytes) {
                             if (begun == writes)
                               on_written(error, bytes);
                           });
}

void TcpSender::State::on_written(const error_code& error, std::size_t bytes) {
  writing = false;
  const std::size_t sent = outgoing.frames_within(bytes);
  queue.sent(sent);
  if (sent < outgoing.frames())
    queue.lost(&SendLosses::connection_broken, outgoing.frames() - sent);
  if (error && connected)
    return disconnect(error);
  pump(); // after a new connection, if this was a write of the last one
}

void TcpSender::State::disconnect(const error_code& why) {
  connected = false;
  queue.note(&SenderLedger::broken);
  if (std::chrono::steady_clock::now() - connected_at > peer.retry_most)
    retry = peer.retry_first;
  connect_later(why);
}

void TcpSender::State::connect_later(const error_code& why) {
  ++attempt;
  error_code ignored_error;
  static_cast<void>(socket.close(ignored_error));
  timer.expires_after(retry);
  retry = std::min(2 * retry, peer.retry_most);
  timer.async_wait([this, begun = attempt](const error_code& error) {
    if (!error && begun == attempt)
      connect();
  });
  if (!std::exchange(failing, true))
    log_message(LogSeverity::warning, name + ": " + why.message() + "; it is tried again");
}

TcpSender::TcpSender(std::unique_ptr<State> state) : state_(std::move(state)) {}

TcpSender::~TcpSender() {
  state_->loop.stop();
  log_unsent(state_->name, state_->queue.ledger());
}

std::expected<std::unique_ptr<TcpSender>, CarrierError> TcpSender::open(const TcpPeer& peer) {
  return opened([&]() -> std::expected<std::unique_ptr<TcpSender>, CarrierError> {
    constexpr std::chrono::milliseconds shortest{1};
    constexpr std::chrono::hours longest{24};
    const auto bad_option = [](std::string message) {
      return failure(CarrierError::Kind::bad_option, std::move(message));
    };
    if (auto checked = check_peer(peer.host, peer.port, peer.queue); !checked)
      return std::unexpected(std::move(checked.error()));
    if (!is_envelope_max(peer.envelope_max))
      return bad_option("no envelope is as small, or its length has more than 32 bits");
    if (peer.retry_first < shortest || peer.retry_most < peer.retry_first ||
        peer.retry_most > longest || peer.connect_timeout < shortest ||
        peer.connect_timeout > longest)
      return bad_option("times of attempts to connect are from a millisecond to a day");
    if (!is_valid(peer.keepalive))
      return bad_option("times of a keepalive are from 1 to 32,767 seconds");
    auto state = std::make_unique<State>(peer);
    if (auto found = state->resolve(); !found)
      return failure(CarrierError::Kind::cannot_resolve,
                     "cannot resolve " + peer.host + ": " + found.error().message());
    boost::asio::post(state->loop.io(), [at = state.get()] { at->connect(); });
    if (auto started = state->loop.start(state->name, [at = state.get()] { at->recover(); });
        !started)
      return std::unexpected(std::move(started.error()));
    return std::unique_ptr<TcpSender>(new TcpSender(std::move(state)));
  });
}

std::size_t TcpSender::send(const FrameBatch& batch) noexcept {
  const SendQueue::Offered offered = state_->queue.offer(batch);
  if (offered.wake)
    state_->wake();
  return offered.frames;
}

bool TcpSender::flush(std::chrono::milliseconds deadline) {
  if (state_->queue.wake_due())
    state_->wake();
  return state_->queue.wait_until_settled(deadline);
}

SenderLedger TcpSender::ledger() const {
  return state_->queue.ledger();
}

bool TcpSender::connected() const {
  return state_->connected;
}

} // namespace datastream
