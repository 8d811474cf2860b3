#include <datastream/envelope/udp_sender.hpp>

#include "addresses.hpp"
#include "carrier_loop.hpp"
#include "failure.hpp"
#include "outgoing_envelopes.hpp"
#include "send_queue.hpp"
#include "socket_options.hpp"

#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <cerrno>
#include <new>
#include <string_view>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace datastream {
namespace {

using boost::asio::ip::udp;

/// Datagrams of one system call, and bytes that are encoded for it.
constexpr std::size_t datagrams_at_once = 64;
constexpr std::size_t bytes_at_once = 256U << 10U;

/// A socket that sends to the endpoint and to nobody else.
boost::system::error_code connect(udp::socket& socket, const udp::endpoint& to) {
  boost::system::error_code error;
  return socket.open(to.protocol(), error) ? error : socket.connect(to, error);
}

} // namespace

struct UdpSender::State {
  explicit State(const UdpPeer& peer)
      : name("udp sender to " + peer.host + ':' + std::to_string(peer.port)), queue(peer.queue) {}

  std::expected<void, CarrierError> connect_to(const UdpPeer& peer);
  void wake() noexcept;
  void pump();
  void prepare();
  bool send_some() noexcept;

  const std::string name;
  SendQueue queue;
  CarrierLoop loop;
  // Of the loop's thread.
  udp::socket socket{loop.io()};
  bool waiting = false; // for the kernel to take more
  OutgoingEnvelopes outgoing{
      queue,
      {.envelope_bytes = datagram_bytes_max, .frames = datagrams_at_once, .bytes = bytes_at_once}};
  std::array<iovec, datagrams_at_once> parts{};
  std::array<mmsghdr, datagrams_at_once> datagrams{};
  std::size_t next = 0;     // datagram to be sent
  bool was_refused = false; // it, once
};

std::expected<void, CarrierError> UdpSender::State::connect_to(const UdpPeer& peer) {
  boost::system::error_code error;
  const auto found = udp::resolver(loop.io()).resolve(peer.host, std::to_string(peer.port), error);
  if (error)
    return failure(CarrierError::Kind::cannot_resolve,
                   "cannot resolve " + peer.host + ": " + error.message());
  for (const auto& entry : found) {
    socket = udp::socket(loop.io());
    error = connect(socket, entry.endpoint());
    boost::system::error_code ignored;
    if (!error && socket.local_endpoint(ignored) == entry.endpoint()) {
      // The peer is not there, and we were given its port: keep that until we have another.
      udp::socket other(loop.io());
      error = connect(other, entry.endpoint());
      socket = std::move(other);
    }
    if (!error) {
      set_send_buffer(socket.native_handle(), peer.send_buffer);
      return {};
    }
  }
  return failure(CarrierError::Kind::system,
                 "cannot send to " + peer.host + ": " + error.message());
}

void UdpSender::State::wake() noexcept {
  try {
    boost::asio::post(loop.io(), [this] { pump(); });
  } catch (const std::bad_alloc&) {
    queue.not_woken();
  }
}

/// Sends what there is, until the kernel has no room.
void UdpSender::State::pump() {
  while (!waiting && !loop.stopping()) {
    if (next == outgoing.frames()) {
      next = 0;
      if (!outgoing.refill())
        return;
      prepare();
    }
    if (!send_some()) {
      socket.async_wait(udp::socket::wait_write, [this](const boost::system::error_code&) {
        waiting = false;
        pump();
      });
      waiting = true;
    }
  }
}

void UdpSender::State::prepare() {
  std::size_t at = 0;
  outgoing.for_each([&](std::string_view envelope) {
    parts[at] = {const_cast<char*>(envelope.data()), envelope.size()}; // it is only read
    datagrams[at] = {};
    datagrams[at].msg_hdr.msg_iov = &parts[at];
    datagrams[at].msg_hdr.msg_iovlen = 1;
    ++at;
  });
}

/// One system call; false: the kernel has no room.
bool UdpSender::State::send_some() noexcept {
  const int sent = sendmmsg(socket.native_handle(), &datagrams[next],
                            static_cast<unsigned>(outgoing.frames() - next), MSG_DONTWAIT);
  if (sent > 0) {
    was_refused = false;
    next += static_cast<std::size_t>(sent);
    queue.sent(static_cast<std::size_t>(sent));
    return true;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK)
    return false;
  if (errno == EINTR)
    return true;
  if (errno == ECONNREFUSED) {
    queue.note(&SenderLedger::unreachable);
    // That is about an earlier datagram, and this one was not sent.
    if (!std::exchange(was_refused, true))
      return true;
  }
  was_refused = false;
  ++next;
  queue.lost(&SendLosses::kernel_refused, 1);
  return true;
}

UdpSender::UdpSender(std::unique_ptr<State> state) : state_(std::move(state)) {}

UdpSender::~UdpSender() {
  state_->loop.stop();
  log_unsent(state_->name, state_->queue.ledger());
}

std::expected<std::unique_ptr<UdpSender>, CarrierError> UdpSender::open(const UdpPeer& peer) {
  return opened([&]() -> std::expected<std::unique_ptr<UdpSender>, CarrierError> {
    if (auto checked = check_peer(peer.host, peer.port, peer.queue); !checked)
      return std::unexpected(std::move(checked.error()));
    auto state = std::make_unique<State>(peer);
    if (auto connected = state->connect_to(peer); !connected)
      return std::unexpected(std::move(connected.error()));
    if (auto started = state->loop.start(state->name, [at = state.get()] { at->pump(); }); !started)
      return std::unexpected(std::move(started.error()));
    return std::unique_ptr<UdpSender>(new UdpSender(std::move(state)));
  });
}

std::size_t UdpSender::send(const FrameBatch& batch) noexcept {
  const SendQueue::Offered offered = state_->queue.offer(batch);
  if (offered.wake)
    state_->wake();
  return offered.frames;
}

bool UdpSender::flush(std::chrono::milliseconds deadline) {
  if (state_->queue.wake_due())
    state_->wake();
  return state_->queue.wait_until_settled(deadline);
}

SenderLedger UdpSender::ledger() const {
  return state_->queue.ledger();
}

} // namespace datastream
