#include <datastream/envelope/udp_receiver.hpp>

#include "addresses.hpp"
#include "carrier_loop.hpp"
#include "failure.hpp"
#include "intake.hpp"
#include "socket_options.hpp"
#include <datastream/defaults.hpp>

#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <string_view>
#include <sys/socket.h>
#include <utility>

namespace datastream {
namespace {

using boost::asio::ip::udp;

/// Every datagram needs room for the largest there can be.
constexpr std::size_t datagram_room = 65'535;
/// A slab of ordinary datagrams one behind the other, and room for the last.
constexpr std::size_t block_bytes = defaults::slab_bytes + datagram_room;
/// Peers whose datagrams are collected at the same time; another takes the place of the first.
constexpr std::size_t peers_max = 32;
/// How long to wait when the system has no memory.
constexpr std::chrono::milliseconds pause{100};

} // namespace

struct UdpReceiver::State {
  State(AllowList allowed, ReceiverHandlers to)
      : allow(std::move(allowed)), handlers(std::move(to)) {}

  struct Peer {
    udp::endpoint endpoint;
    EnvelopeIntake intake;
  };

  std::expected<void, CarrierError> bind(const UdpListen& listen,
                                         const boost::asio::ip::address& address);
  void wait();
  void wait_a_moment();
  void receive();
  void take_in(const udp::endpoint& from, std::string_view datagram) noexcept;
  EnvelopeIntake& intake_of(const udp::endpoint& from);
  ReceiverLedger ledger();

  const AllowList allow;
  const ReceiverHandlers handlers;
  ReceiverCounts counts;
  std::uint32_t drops_seen = 0; // changed together with the counts
  CarrierLoop loop;
  udp::socket socket{loop.io()};
  std::uint16_t port = 0;
  // Of the loop's thread.
  boost::asio::steady_timer timer{loop.io()};
  BlockPtr block;
  std::vector<std::unique_ptr<Peer>> peers; // the one that was heard last is the first
};

std::expected<void, CarrierError>
UdpReceiver::State::bind(const UdpListen& listen, const boost::asio::ip::address& address) {
  boost::system::error_code error;
  if (socket.open(address.is_v6() ? udp::v6() : udp::v4(), error))
    return failure(CarrierError::Kind::system, "cannot open a socket: " + error.message());
  set_receive_buffer(socket.native_handle(), listen.receive_buffer);
  if (socket.bind({address, listen.port}, error))
    return failure(CarrierError::Kind::cannot_bind, "cannot bind udp " +
                                                        endpoint_text(address, listen.port) + ": " +
                                                        error.message());
  port = socket.local_endpoint(error).port();
  return {};
}

void UdpReceiver::State::wait() {
  socket.async_wait(udp::socket::wait_read,
                    [this](const boost::system::error_code&) { receive(); });
}

void UdpReceiver::State::wait_a_moment() {
  timer.expires_after(pause);
  timer.async_wait([this](const boost::system::error_code&) { receive(); });
}

/// Takes what the kernel has, at most a batch of it: others of this thread want to run, too.
void UdpReceiver::State::receive() {
  if (!block || !block->unique())
    block = allocate_block(block_bytes);
  if (!block)
    return wait_a_moment();
  int failure = 0;
  std::size_t used = 0;
  for (std::size_t count = 0; count < defaults::batch_frames && block_bytes - used >= datagram_room;
       ++count) {
    udp::endpoint from;
    auto length = static_cast<socklen_t>(from.capacity());
    const ssize_t bytes = recvfrom(socket.native_handle(), block->data() + used, datagram_room,
                                   MSG_DONTWAIT, from.data(), &length);
    if (bytes < 0) {
      failure = errno;
      break;
    }
    from.resize(length);
    take_in(from, {block->data() + used, static_cast<std::size_t>(bytes)});
    used += static_cast<std::size_t>(bytes);
  }
  for (const auto& peer : peers)
    peer->intake.hand_on(block);
  ledger(); // sees to it that drops are counted before their number is too large for the kernel
  if (failure == 0 || failure == EAGAIN || failure == EWOULDBLOCK || failure == EINTR)
    wait();
  else
    wait_a_moment();
}

void UdpReceiver::State::take_in(const udp::endpoint& from, std::string_view datagram) noexcept {
  if (!allow.allows(from.address())) {
    counts.change([](ReceiverLedger& ledger) {
      ++ledger.received;
      ++ledger.not_allowed;
    });
    return;
  }
  try {
    intake_of(from).add(datagram, block);
  } catch (const std::bad_alloc&) {
    counts.change([](ReceiverLedger& ledger) {
      ++ledger.received;
      ++ledger.out_of_memory;
    });
  }
}

EnvelopeIntake& UdpReceiver::State::intake_of(const udp::endpoint& from) {
  auto found = std::ranges::find(peers, from, &Peer::endpoint);
  if (found == peers.end()) {
    auto peer = std::make_unique<Peer>(
        from,
        EnvelopeIntake("udp " + endpoint_text(from.address(), from.port()), handlers, counts));
    if (peers.size() < peers_max) {
      peers.push_back(std::move(peer));
    } else {
      peers.back()->intake.hand_on(block);
      peers.back() = std::move(peer);
    }
    found = peers.end() - 1;
  }
  std::rotate(peers.begin(), found, found + 1);
  return peers.front()->intake;
}

ReceiverLedger UdpReceiver::State::ledger() {
  ReceiverLedger now;
  counts.change([&](ReceiverLedger& ledger) {
    const std::uint32_t drops = dropped_datagrams(socket.native_handle());
    ledger.kernel_dropped += drops - drops_seen; // modulo 2^32
    drops_seen = drops;
    now = ledger;
  });
  return now;
}

UdpReceiver::UdpReceiver(std::unique_ptr<State> state) : state_(std::move(state)) {}

UdpReceiver::~UdpReceiver() {
  state_->loop.stop();
}

std::expected<std::unique_ptr<UdpReceiver>, CarrierError>
UdpReceiver::open(const UdpListen& listen, ReceiverHandlers handlers) {
  return opened([&]() -> std::expected<std::unique_ptr<UdpReceiver>, CarrierError> {
    if (!handlers.on_batch)
      return failure(CarrierError::Kind::bad_option, "a receiver without on_batch");
    auto address = listen_address(listen.address, listen.any_interface);
    if (!address)
      return std::unexpected(std::move(address.error()));
    auto allow = AllowList::parse(listen.allow);
    if (!allow)
      return std::unexpected(std::move(allow.error()));
    auto state = std::make_unique<State>(std::move(*allow), std::move(handlers));
    if (auto bound = state->bind(listen, *address); !bound)
      return std::unexpected(std::move(bound.error()));
    state->wait();
    const std::string name = "udp receiver on " + endpoint_text(*address, state->port);
    if (auto started = state->loop.start(name, [at = state.get()] { at->wait(); }); !started)
      return std::unexpected(std::move(started.error()));
    return std::unique_ptr<UdpReceiver>(new UdpReceiver(std::move(state)));
  });
}

std::uint16_t UdpReceiver::port() const {
  return state_->port;
}

std::size_t UdpReceiver::receive_buffer() const {
  return receive_buffer_of(state_->socket.native_handle());
}

ReceiverLedger UdpReceiver::ledger() const {
  return state_->ledger();
}

} // namespace datastream
