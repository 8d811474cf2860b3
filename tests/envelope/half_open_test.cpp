/// Peers that are gone without a word. A filter that lets no packet through to the peer's socket
/// makes it one: it neither receives nor acknowledges anything.

#include "carriers.hpp"

#include <datastream/envelope/tcp_receiver.hpp>
#include <datastream/envelope/tcp_sender.hpp>

#include <doctest/doctest.h>

#include <linux/filter.h>

using namespace datastream;
using namespace datastream::test;

namespace {

const StreamId stream{"node-a", {7}};
constexpr TcpKeepalive quick{.idle = std::chrono::seconds(1),
                             .interval = std::chrono::seconds(1),
                             .timeout = std::chrono::seconds(2)};

void vanish(const RawSocket& socket) {
  sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{1, &nothing};
  REQUIRE(setsockopt(socket.fd(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0);
}

} // namespace

TEST_CASE("a_receiver_notices_that_a_silent_peer_is_gone") {
  Taker taker;
  const auto receiver = TcpReceiver::open({.keepalive = quick}, taker.handlers());
  REQUIRE(receiver);
  const auto gone = RawSocket::connected(SOCK_STREAM, (*receiver)->port());
  const auto there = RawSocket::connected(SOCK_STREAM, (*receiver)->port());
  gone.send(framed(envelope_of({stream, {{1}, {0}, "x"}})));
  REQUIRE(taker.has(1));
  vanish(gone);
  REQUIRE(eventually([&] { return !taker.left().empty(); }));
  CHECK(taker.left() == std::vector{"tcp 127.0.0.1:" + std::to_string(gone.port())});
  CHECK((*receiver)->ledger().connections ==
        ConnectionCounts{.accepted = 2, .open = 1, .broken = 1});
  there.send(framed(envelope_of({stream, {{1}, {1}, "y"}}))); // silent as long, and welcome
  CHECK(taker.has(2));
}

TEST_CASE("a_sender_notices_that_its_peer_is_gone_and_calls_again") {
  const auto listener = RawSocket::bound(SOCK_STREAM);
  TcpPeer to{.port = listener.port()};
  to.retry_first = std::chrono::milliseconds(5);
  to.keepalive = quick;
  const auto sender = TcpSender::open(to);
  REQUIRE(sender);
  const auto gone = listener.accepted();
  vanish(gone);
  SUBCASE("while there is something to send") {
    CHECK((*sender)->send(some_frames(stream, 0, 10)) == 10);
  }
  SUBCASE("while there is nothing to send") {}
  const auto next = listener.accepted();
  REQUIRE(eventually([&] { return (*sender)->connected(); }));
  CHECK((*sender)->send(some_frames(stream, 10, 10)) == 10);
  CHECK((*sender)->flush(patience));
  const SenderLedger ledger = (*sender)->ledger();
  CHECK(ledger.connects == 2);
  CHECK(ledger.broken == 1);
  CHECK(ledger.balanced());
}

TEST_CASE("a_peer_that_takes_nothing_for_the_timeout_counts_as_gone") {
  const auto listener = RawSocket::bound(SOCK_STREAM);
  TcpPeer to{.port = listener.port()};
  to.retry_first = std::chrono::milliseconds(5);
  to.keepalive = quick;
  const auto sender = TcpSender::open(to);
  REQUIRE(sender);
  const auto stuck = listener.accepted();
  CHECK((*sender)->send(some_frames(stream, 0, 1000, 20'000)) == 1000); // more than buffers take
  REQUIRE(eventually([&] { return (*sender)->ledger().broken >= 1; }));
  CHECK((*sender)->ledger().lost.connection_broken > 0);
  CHECK((*sender)->ledger().balanced());
}
