/// Envelopes over connections.

#include "carriers.hpp"
#include "no_descriptors.hpp"
#include "replaced_log_sink.hpp"

#include <datastream/envelope/tcp_receiver.hpp>
#include <datastream/envelope/tcp_sender.hpp>

#include <datastream/log_sink.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace datastream;
using namespace datastream::test;
using std::chrono::milliseconds;

namespace {

const StreamId stream{"node-\xc3\xb8", {7}};

std::unique_ptr<TcpReceiver> receiver_for(Taker& taker, const TcpListen& listen = {}) {
  auto opened = TcpReceiver::open(listen, taker.handlers());
  REQUIRE(opened);
  return std::move(*opened);
}

std::unique_ptr<TcpSender> sender_to(std::uint16_t port, TcpPeer peer = {}) {
  peer.port = port;
  peer.retry_first = milliseconds(5);
  peer.retry_most = milliseconds(50);
  auto opened = TcpSender::open(peer);
  REQUIRE(opened);
  return std::move(*opened);
}

bool is_connected(const TcpSender& sender) {
  return eventually([&] { return sender.connected(); });
}

} // namespace

TEST_CASE("frames_over_tcp_arrive_byte_for_byte_and_in_order") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto sender = sender_to(receiver->port());
  std::vector<Delivery> expected;
  for (const std::size_t payload : {0U, 1U, 120U, 5000U, 70'000U, 1'000'000U}) {
    const FrameBatch batch =
        some_frames(stream, expected.size(), payload > 10'000 ? 5 : 1000, payload);
    for (Delivery& delivery : deliveries_of(batch))
      expected.push_back(std::move(delivery));
    CHECK(sender->send(batch) == batch.size());
  }
  REQUIRE(taker.has(expected.size()));
  CHECK(taker.frames() == expected);
  REQUIRE(sender->flush(patience));
  CHECK(sender->ledger().sent == expected.size());
  CHECK(sender->ledger().offered == expected.size());
  CHECK(sender->ledger().connects == 1);
  CHECK(sender->ledger().balanced());
  REQUIRE(eventually([&] { return receiver->ledger().handed_on == expected.size(); }));
  const ReceiverLedger ledger = receiver->ledger();
  CHECK(ledger.received == expected.size());
  CHECK(ledger.connections == ConnectionCounts{.accepted = 1, .open = 1});
  CHECK(ledger.balanced());
}

TEST_CASE("the_largest_payload_of_a_mux_passes_over_tcp") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto sender = sender_to(receiver->port());
  const FrameBatch batch = some_frames(stream, 0, 1, defaults::payload_bytes_max);
  CHECK(sender->send(batch) == 1);
  REQUIRE(taker.has(1));
  CHECK(taker.frames() == deliveries_of(batch));
}

TEST_CASE("ipv6_carries_connections_too") {
  Taker taker;
  const auto receiver = receiver_for(taker, {.address = "::1"});
  const auto sender = TcpSender::open({.host = "::1", .port = receiver->port()});
  REQUIRE(sender);
  (*sender)->send(some_frames(stream, 0, 1));
  REQUIRE(taker.has(1));
  CHECK(taker.by_peer().begin()->first.starts_with("tcp [::1]:"));
}

TEST_CASE("an_envelope_over_the_maximum_is_lost_and_counted_by_the_sender") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto sender = sender_to(receiver->port(), {.envelope_max = envelope_size(stream, 100)});
  CHECK(sender->send(some_frames(stream, 0, 1, 100)) == 1);
  CHECK(sender->send(some_frames(stream, 1, 2, 101)) == 2);
  CHECK(sender->send(some_frames(stream, 3, 1, 100)) == 1);
  REQUIRE(taker.has(2));
  REQUIRE(sender->flush(patience));
  CHECK(taker.frames().back().frame.position == Position{3});
  CHECK(sender->ledger().lost == SendLosses{.envelope_too_large = 2});
  CHECK(sender->ledger().connects == 1);
  CHECK(sender->ledger().balanced());
}

TEST_CASE("a_length_over_the_maximum_closes_its_connection_and_no_other") {
  Taker taker;
  const auto receiver = receiver_for(taker, {.envelope_max = 1000});
  const auto other = RawSocket::connected(SOCK_STREAM, receiver->port());
  const std::string good = framed(envelope_of({stream, {{1}, {0}, "x"}}));
  other.send(good.substr(0, 10));
  const auto peer = RawSocket::connected(SOCK_STREAM, receiver->port());
  peer.send(good + framed(std::string(1001, 'x')).substr(0, 4));
  CHECK(eventually([&] { return taker.left().size() == 1; }));
  CHECK(taker.left() == std::vector{"tcp 127.0.0.1:" + std::to_string(peer.port())});
  CHECK(taker.count() == 1); // what came before it
  other.send(good.substr(10));
  CHECK(taker.has(2));
  CHECK(receiver->ledger().connections ==
        ConnectionCounts{.accepted = 2, .open = 1, .over_maximum = 1});
}

TEST_CASE("what_is_no_envelope_in_a_correct_frame_is_counted_and_the_connection_goes_on") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto peer = RawSocket::connected(SOCK_STREAM, receiver->port());
  const std::string good = envelope_of({stream, {{1}, {0}, "x"}});
  std::string no_text = good;
  no_text[4] = '\xff';
  peer.send(framed("") + framed(good.substr(0, good.size() - 1)) + framed(good + "y") +
            framed(no_text) + framed(good));
  REQUIRE(taker.has(1));
  REQUIRE(eventually([&] { return receiver->ledger().handed_on == 1; }));
  const ReceiverLedger ledger = receiver->ledger();
  CHECK(ledger.received == 5);
  CHECK(ledger.malformed == MalformedCounts{.truncated = 2, .not_utf8 = 1, .trailing_bytes = 1});
  CHECK(ledger.connections.open == 1);
  CHECK(ledger.balanced());
}

TEST_CASE("how_a_connection_ended_is_counted_and_told_after_its_last_batch") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const std::string good = framed(envelope_of({stream, {{1}, {0}, "x"}}));
  auto peer = RawSocket::connected(SOCK_STREAM, receiver->port());
  ConnectionCounts expected{.accepted = 1};
  SUBCASE("after a complete envelope") {
    peer.send(good);
    peer.close();
    expected.ended = 1;
  }
  SUBCASE("within an envelope") {
    peer.send(good + good.substr(0, 20));
    peer.close();
    expected.cut_short = 1;
  }
  SUBCASE("within the length of an envelope") {
    peer.send(good + good.substr(0, 1));
    peer.close();
    expected.cut_short = 1;
  }
  SUBCASE("by a reset") {
    peer.send(good);
    REQUIRE(taker.has(1));
    const linger at_once{1, 0};
    REQUIRE(setsockopt(peer.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    peer.close();
    expected.broken = 1;
  }
  REQUIRE(eventually([&] { return taker.left().size() == 1; }));
  CHECK(taker.count() == 1);
  CHECK(receiver->ledger().connections == expected);
  CHECK(receiver->ledger().balanced());
}

TEST_CASE("connections_of_addresses_that_are_not_on_the_list_are_closed_and_counted") {
  Taker taker;
  const auto receiver = receiver_for(taker, {.allow = {"127.0.0.2"}});
  const auto peer = RawSocket::connected(SOCK_STREAM, receiver->port());
  peer.read_to_end();
  CHECK(eventually([&] {
    return receiver->ledger().connections == ConnectionCounts{.accepted = 1, .not_allowed = 1};
  }));
  CHECK(taker.left().empty());
}

TEST_CASE("connections_beyond_the_bound_are_closed_and_counted_until_one_leaves") {
  Taker taker;
  const auto receiver = receiver_for(taker, {.connections_max = 2});
  auto first = RawSocket::connected(SOCK_STREAM, receiver->port());
  const auto second = RawSocket::connected(SOCK_STREAM, receiver->port());
  const auto third = RawSocket::connected(SOCK_STREAM, receiver->port());
  third.read_to_end();
  CHECK(receiver->ledger().connections ==
        ConnectionCounts{.accepted = 3, .too_many = 1, .open = 2});
  first.close();
  REQUIRE(eventually([&] { return receiver->ledger().connections.open == 1; }));
  const auto fourth = RawSocket::connected(SOCK_STREAM, receiver->port());
  fourth.send(framed(envelope_of({stream, {{1}, {0}, "x"}})));
  CHECK(taker.has(1));
  CHECK(receiver->ledger().balanced());
}

TEST_CASE("a_connection_that_says_nothing_or_half_of_something_holds_up_no_other") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto silent = RawSocket::connected(SOCK_STREAM, receiver->port());
  const auto slow = RawSocket::connected(SOCK_STREAM, receiver->port());
  slow.send(std::string("\x10\0\0\0abc", 7));
  const auto sender = sender_to(receiver->port());
  CHECK(sender->send(some_frames(stream, 0, 1000)) == 1000);
  CHECK(taker.has(1000));
}

TEST_CASE("frames_of_two_connections_are_never_in_one_batch") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto first = sender_to(receiver->port());
  const auto second = sender_to(receiver->port());
  for (std::uint64_t at = 0; at < 5000; at += 50) {
    first->send(some_frames({"first", {1}}, at, 50));
    second->send(some_frames({"second", {1}}, at, 50));
  }
  REQUIRE(taker.has(10'000));
  const auto by_peer = taker.by_peer();
  REQUIRE(by_peer.size() == 2);
  for (const auto& [peer, frames] : by_peer) {
    REQUIRE(frames.size() == 5000);
    for (std::uint64_t at = 0; at < 5000; ++at) {
      CHECK(frames[at].frame.position.value == at);
      CHECK(frames[at].stream == frames[0].stream);
    }
  }
}

TEST_CASE("a_peer_that_does_not_read_costs_a_bounded_queue_and_counted_frames_and_no_time") {
  const auto listener = RawSocket::bound(SOCK_STREAM);
  const auto sender = sender_to(listener.port(), {.queue = {.frames = 500, .bytes = 1U << 20U}});
  auto peer = listener.accepted();
  REQUIRE(is_connected(*sender));
  const FrameBatch batch = some_frames(stream, 0, 100, 10'000);
  REQUIRE(eventually([&] { // until the kernel's buffers are full, too
    sender->send(batch);
    return sender->ledger().lost.send_queue_full > 10'000;
  }));
  const SenderLedger stuck = sender->ledger();
  // The queue, and what one write holds.
  CHECK(stuck.queued * 10'000 <= (1U << 20U) + (1U << 18U) + 20'000);
  CHECK(stuck.balanced());
  CHECK(!sender->flush(milliseconds(1)));

  std::jthread reader([&] { peer.read_to_end(); }); // it reads again, and all the rest goes
  CHECK(sender->flush(patience));
  CHECK(sender->ledger().queued == 0);
  CHECK(sender->ledger().broken == 0);
  CHECK(sender->ledger().balanced());
  REQUIRE(shutdown(peer.fd(), SHUT_RDWR) == 0);
}

TEST_CASE("a_slow_taker_slows_its_peer_and_nothing_is_lost") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto sender = sender_to(receiver->port());
  constexpr std::uint64_t count = 10'000;
  {
    const auto held = taker.block();
    CHECK(sender->send(some_frames(stream, 0, count, 4000)) == count);
    REQUIRE(eventually([&] { return receiver->ledger().held > 0; }));
    CHECK(!sender->flush(milliseconds(50))); // 40 MB fit no socket's buffers
  }
  REQUIRE(taker.has(count));
  CHECK(eventually([&] { return receiver->ledger().handed_on == count; }));
  CHECK(sender->ledger().sent == count);
}

TEST_CASE("a_sender_connects_again_when_its_receiver_comes_back_and_every_frame_is_accounted_for") {
  Taker taker;
  auto receiver = receiver_for(taker);
  const std::uint16_t port = receiver->port();
  const auto sender = sender_to(port);
  std::uint64_t offered = 0;
  for (int restart = 0; restart < 5; ++restart) {
    const std::size_t before = taker.count();
    REQUIRE(eventually([&] {
      sender->send(some_frames(stream, offered, 10));
      offered += 10;
      return taker.count() > before;
    }));
    receiver.reset();
    REQUIRE(eventually([&] { return !sender->connected(); })); // although nothing is sent
    sender->send(some_frames(stream, offered, 10));            // waits for the next one
    offered += 10;
    receiver = receiver_for(taker, {.port = port});
    REQUIRE(is_connected(*sender));
  }
  REQUIRE(sender->flush(patience));
  const SenderLedger ledger = sender->ledger();
  CHECK(ledger.offered == offered);
  CHECK(ledger.connects == 6);
  CHECK(ledger.broken == 5);
  CHECK(ledger.queued == 0);
  CHECK(ledger.balanced());
  CHECK(eventually([&] { return taker.count() > 0 && receiver->ledger().balanced(); }));
  CHECK(taker.count() <= offered);
}

TEST_CASE("frames_of_a_write_that_breaks_are_counted_as_lost_and_the_rest_is_sent_later") {
  auto listener = RawSocket::bound(SOCK_STREAM);
  const std::uint16_t port = listener.port();
  const auto sender = sender_to(port, {.queue = {.frames = 100'000}});
  auto peer = listener.accepted();
  constexpr std::uint64_t count = 4000;
  CHECK(sender->send(some_frames(stream, 0, count, 10'000)) == count);
  // The first write of what does not fit the kernel's buffers waits for this peer.
  REQUIRE(!sender->flush(milliseconds(50)));
  listener.close();
  peer.close(); // with unread data: a reset
  Taker taker;
  REQUIRE(eventually([&] { return !sender->connected(); }));
  const auto receiver = receiver_for(taker, {.port = port});
  REQUIRE(sender->flush(patience));
  const SenderLedger ledger = sender->ledger();
  CHECK(ledger.lost.connection_broken > 0);
  CHECK(ledger.lost.connection_broken <= 30); // of one write of 256 KiB
  CHECK(ledger.lost.total() == ledger.lost.connection_broken);
  CHECK(ledger.sent + ledger.lost.connection_broken == count);
  CHECK(ledger.balanced());
  REQUIRE(eventually([&] { return taker.count() > 0 && receiver->ledger().held == 0; }));
  CHECK(taker.frames().front().frame.position.value > 0);
  REQUIRE(eventually([&] { return taker.frames().back().frame.position == Position{count - 1}; }));
}

TEST_CASE("while_nobody_listens_the_queue_holds_what_it_can") {
  std::uint16_t port = 0;
  {
    port = RawSocket::bound(SOCK_STREAM).port();
  }
  const auto sender = sender_to(port, {.queue = {.frames = 100}});
  CHECK(sender->send(some_frames(stream, 0, 60)) == 60);
  CHECK(sender->send(some_frames(stream, 60, 60)) == 40);
  CHECK(sender->ledger().lost == SendLosses{.send_queue_full = 20});
  CHECK(!sender->flush(milliseconds(20)));
  CHECK(sender->ledger().queued == 100);
  Taker taker;
  const auto receiver = receiver_for(taker, {.port = port});
  REQUIRE(taker.has(100));
  CHECK(taker.frames() == deliveries_of(some_frames(stream, 0, 100)));
  CHECK(sender->flush(patience));
  CHECK(sender->ledger().balanced());
}

TEST_CASE("a_sender_that_ends_with_frames_unsent_says_so") {
  std::mutex mutex;
  std::vector<std::string> lines;
  const ReplacedLogSink sink([&](LogSeverity, std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
  });
  std::uint16_t port = 0;
  {
    port = RawSocket::bound(SOCK_STREAM).port();
  }
  const std::string name = "tcp sender to 127.0.0.1:" + std::to_string(port);
  sender_to(port)->send(some_frames(stream, 0, 5));
  CHECK(lines.back() == name + ": ends with 5 frames unsent");
}

TEST_CASE("a_peer_that_closes_every_connection_is_not_called_without_a_pause") {
  const auto listener = RawSocket::bound(SOCK_STREAM);
  TcpPeer peer{.host = "127.0.0.1", .port = listener.port()};
  peer.retry_first = milliseconds(10);
  peer.retry_most = milliseconds(200);
  const auto begin = std::chrono::steady_clock::now();
  const auto sender = TcpSender::open(peer);
  REQUIRE(sender);
  for (int i = 0; i < 6; ++i)
    listener.accepted().close();
  // 10, 20, 40, 80 and 160 milliseconds lie between them.
  CHECK(std::chrono::steady_clock::now() - begin >= milliseconds(310));
}

TEST_CASE("what_a_peer_says_is_ignored") {
  const auto listener = RawSocket::bound(SOCK_STREAM);
  const auto sender = sender_to(listener.port());
  const auto peer = listener.accepted();
  peer.send(std::string(100'000, 'x'));
  CHECK(sender->send(some_frames(stream, 0, 1)) == 1);
  CHECK(sender->flush(patience));
  CHECK(sender->connected());
}

TEST_CASE("a_receiver_without_descriptors_lets_peers_wait_and_accepts_them_later") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  RawSocket peer(SOCK_STREAM);
  {
    const NoDescriptors none;
    peer.connect_to(receiver->port());
    CHECK(eventually([&] { return receiver->ledger().accept_failures > 0; }));
  }
  peer.send(framed(envelope_of({stream, {{1}, {0}, "x"}})));
  CHECK(taker.has(1));
  CHECK(receiver->ledger().accept_failures < 100); // it does not spin
  CHECK(receiver->ledger().balanced());
}

TEST_CASE("senders_and_receivers_of_connections_stop_while_they_are_busy") {
  for (int round = 0; round < 20; ++round) {
    Taker taker;
    auto receiver = receiver_for(taker);
    auto sender = sender_to(receiver->port());
    std::atomic<bool> stop = false;
    std::jthread busy([&] {
      const FrameBatch batch = some_frames(stream, 0, 100);
      while (!stop)
        sender->send(batch);
    });
    REQUIRE(taker.has(100));
    if (round % 2 == 0)
      receiver.reset();
    stop = true;
    busy.join();
    CHECK(sender->ledger().balanced());
    sender.reset();
  }
}
