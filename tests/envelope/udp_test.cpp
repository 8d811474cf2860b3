/// Envelopes in datagrams.

#include "carriers.hpp"

#include <datastream/envelope/udp_receiver.hpp>
#include <datastream/envelope/udp_sender.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

const StreamId stream{"node-\xc3\xb8", {7}};

std::unique_ptr<UdpReceiver> receiver_for(Taker& taker, const UdpListen& listen = {}) {
  auto opened = UdpReceiver::open(listen, taker.handlers());
  REQUIRE(opened);
  return std::move(*opened);
}

std::unique_ptr<UdpSender> sender_to(std::uint16_t port, SendBounds queue = {}) {
  auto opened = UdpSender::open({.host = "127.0.0.1", .port = port, .queue = queue});
  REQUIRE(opened);
  return std::move(*opened);
}

} // namespace

TEST_CASE("frames_over_udp_arrive_byte_for_byte_and_in_order") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto sender = sender_to(receiver->port());
  std::vector<Delivery> expected;
  for (std::size_t payload : {16U, 120U, 60'000U}) {
    for (int round = 0; round < 20; ++round) { // few enough for every system's buffers
      const FrameBatch batch = some_frames(stream, expected.size(), 3, payload);
      for (Delivery& delivery : deliveries_of(batch))
        expected.push_back(std::move(delivery));
      CHECK(sender->send(batch) == 3);
      REQUIRE(taker.has(expected.size()));
    }
  }
  CHECK(taker.frames() == expected);
  REQUIRE(sender->flush(patience));
  const SenderLedger sent = sender->ledger();
  CHECK(sent.offered == expected.size());
  CHECK(sent.sent == expected.size());
  CHECK(sent.balanced());
  const ReceiverLedger received = receiver->ledger();
  CHECK(received.received == expected.size());
  CHECK(eventually([&] { return receiver->ledger().handed_on == expected.size(); }));
  CHECK(receiver->ledger().balanced());
  CHECK(taker.left().empty());
}

TEST_CASE("the_peer_of_a_datagram_is_told_as_text") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto peer = RawSocket::connected(SOCK_DGRAM, receiver->port());
  peer.send(envelope_of({stream, {{1}, {0}, "x"}}));
  REQUIRE(taker.has(1));
  CHECK(taker.by_peer().begin()->first == "udp 127.0.0.1:" + std::to_string(peer.port()));
}

TEST_CASE("ipv6_carries_datagrams_too") {
  Taker taker;
  const auto receiver = receiver_for(taker, {.address = "::1"});
  const auto sender = UdpSender::open({.host = "::1", .port = receiver->port()});
  REQUIRE(sender);
  (*sender)->send(some_frames(stream, 0, 1));
  REQUIRE(taker.has(1));
  CHECK(taker.by_peer().begin()->first.starts_with("udp [::1]:"));
}

TEST_CASE("an_ipv4_peer_of_an_ipv6_receiver_is_known_by_its_ipv4_address") {
  Taker taker;
  const auto receiver =
      receiver_for(taker, {.address = "::", .allow = {"127.0.0.1"}, .any_interface = true});
  const auto peer = RawSocket::connected(SOCK_DGRAM, receiver->port());
  peer.send(envelope_of({stream, {{1}, {0}, "x"}}));
  REQUIRE(taker.has(1));
  CHECK(taker.by_peer().begin()->first == "udp 127.0.0.1:" + std::to_string(peer.port()));
}

TEST_CASE("datagrams_of_two_peers_are_never_in_one_batch") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  std::vector<RawSocket> peers;
  for (int i = 0; i < 40; ++i) // more than are collected at the same time
    peers.push_back(RawSocket::connected(SOCK_DGRAM, receiver->port()));
  {
    const auto held = taker.block(); // so that all of them are there at once
    for (std::uint64_t round = 0; round < 10; ++round)
      for (std::size_t i = 0; i < peers.size(); ++i)
        peers[i].send(envelope_of({stream, {{static_cast<std::uint32_t>(i)}, {round}, "x"}}));
  }
  REQUIRE(taker.has(400));
  const auto by_peer = taker.by_peer();
  CHECK(by_peer.size() == peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const auto& frames = by_peer.at("udp 127.0.0.1:" + std::to_string(peers[i].port()));
    REQUIRE(frames.size() == 10);
    for (std::uint64_t round = 0; round < 10; ++round) {
      CHECK(frames[round].frame.channel.value == i);
      CHECK(frames[round].frame.position.value == round);
    }
  }
}

TEST_CASE("what_is_no_envelope_is_counted_by_kind_and_the_rest_goes_on") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto peer = RawSocket::connected(SOCK_DGRAM, receiver->port());
  const std::string good = envelope_of({stream, {{1}, {0}, "x"}});
  std::string no_text = good;
  no_text[4] = '\xff';
  peer.send("");
  peer.send(good.substr(0, good.size() - 1));
  peer.send(good + "y");
  peer.send(no_text);
  peer.send(good);
  REQUIRE(taker.has(1));
  REQUIRE(eventually([&] { return receiver->ledger().handed_on == 1; }));
  const ReceiverLedger ledger = receiver->ledger();
  CHECK(ledger.received == 5);
  CHECK(ledger.malformed == MalformedCounts{.truncated = 2, .not_utf8 = 1, .trailing_bytes = 1});
  CHECK(ledger.balanced());
}

TEST_CASE("an_envelope_that_no_datagram_carries_is_lost_and_counted_and_the_largest_arrives") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto sender = sender_to(receiver->port());
  const std::size_t largest = datagram_bytes_max - envelope_size(stream, 0);
  CHECK(sender->send(some_frames(stream, 0, 1, largest + 1)) == 1);
  CHECK(sender->send(some_frames(stream, 1, 1, largest)) == 1);
  REQUIRE(taker.has(1));
  CHECK(taker.frames() == deliveries_of(some_frames(stream, 1, 1, largest)));
  REQUIRE(sender->flush(patience));
  CHECK(sender->ledger().lost == SendLosses{.envelope_too_large = 1});
  CHECK(sender->ledger().balanced());
}

TEST_CASE("a_node_that_is_no_text_is_lost_and_counted_by_the_sender") {
  Taker taker;
  const auto receiver = receiver_for(taker);
  const auto sender = sender_to(receiver->port());
  sender->send(some_frames({"\xff", {1}}, 0, 3));
  sender->send(some_frames(stream, 0, 1));
  REQUIRE(taker.has(1));
  REQUIRE(sender->flush(patience));
  CHECK(sender->ledger().lost == SendLosses{.not_encodable = 3});
  CHECK(sender->ledger().balanced());
}

TEST_CASE("a_full_queue_drops_what_is_behind_its_bounds") {
  const auto nobody = RawSocket::bound(SOCK_DGRAM);
  SUBCASE("in frames") {
    const auto sender = sender_to(nobody.port(), {.frames = 10});
    CHECK(sender->send(some_frames(stream, 0, 25)) == 10);
    CHECK(sender->ledger().lost == SendLosses{.send_queue_full = 15});
    REQUIRE(sender->flush(patience));
    CHECK(sender->ledger().sent == 10);
    CHECK(sender->ledger().balanced());
  }
  SUBCASE("in bytes") {
    const auto sender = sender_to(nobody.port(), {.bytes = 1000});
    CHECK(sender->send(some_frames(stream, 0, 25, 100)) == 10);
    REQUIRE(sender->flush(patience));
    CHECK(sender->send(some_frames(stream, 0, 1, 1001)) == 0);
    CHECK(sender->ledger().lost == SendLosses{.send_queue_full = 16});
    CHECK(sender->ledger().balanced());
  }
}

TEST_CASE("a_peer_that_is_not_there_costs_nothing_and_is_counted") {
  std::uint16_t port = 0;
  {
    port = RawSocket::bound(SOCK_DGRAM).port();
  }
  const auto sender = sender_to(port);
  std::uint64_t offered = 0;
  REQUIRE(eventually([&] {
    offered += 10;
    CHECK(sender->send(some_frames(stream, 0, 10)) == 10);
    CHECK(sender->flush(patience));
    return sender->ledger().unreachable > 0;
  }));
  CHECK(sender->ledger().offered == offered);
  CHECK(sender->ledger().balanced());

  Taker taker; // and when it comes, it gets what is sent from then on
  const auto receiver = receiver_for(taker, {.port = port});
  CHECK(sender->send(some_frames(stream, 0, 1)) == 1);
  CHECK(taker.has(1));
}

TEST_CASE("addresses_that_are_not_on_the_list_are_counted_and_dropped") {
  Taker taker;
  SUBCASE("another one is") {
    const auto receiver = receiver_for(taker, {.allow = {"127.0.0.2", "::1"}});
    const auto sender = sender_to(receiver->port());
    sender->send(some_frames(stream, 0, 3));
    REQUIRE(eventually([&] { return receiver->ledger().not_allowed == 3; }));
    CHECK(receiver->ledger().received == 3);
    CHECK(receiver->ledger().balanced());
    CHECK(taker.count() == 0);
  }
  SUBCASE("it is, in the other way to write it") {
    const auto receiver = receiver_for(taker, {.allow = {"10.0.0.1", "::ffff:127.0.0.1"}});
    const auto sender = sender_to(receiver->port());
    sender->send(some_frames(stream, 0, 3));
    CHECK(taker.has(3));
    CHECK(receiver->ledger().not_allowed == 0);
  }
}

TEST_CASE("datagrams_that_the_kernel_drops_are_counted_and_nothing_else_is_missing") {
  constexpr std::uint64_t flood = 20'000;
  Taker taker;
  const auto receiver = receiver_for(taker, {.receive_buffer = 1});
  CHECK(receiver->receive_buffer() < 65'536);
  const auto sender = sender_to(receiver->port(), {.frames = flood});
  {
    const auto held = taker.block();
    for (std::uint64_t first = 0; first < flood; first += 1000)
      CHECK(sender->send(some_frames(stream, first, 1000)) == 1000);
    REQUIRE(sender->flush(patience));
    CHECK(receiver->ledger().kernel_dropped > 0); // told while nobody receives
  }
  CHECK(sender->ledger().sent == flood);
  CHECK(eventually([&] {
    const ReceiverLedger ledger = receiver->ledger();
    return ledger.handed_on + ledger.kernel_dropped == flood;
  }));
  CHECK(receiver->ledger().balanced());
}

TEST_CASE("the_kernel_is_asked_for_the_buffer_that_was_asked_for") {
  Taker taker;
  const auto small = receiver_for(taker, {.receive_buffer = 20'000});
  const auto large = receiver_for(taker, {.receive_buffer = 200'000});
  CHECK(small->receive_buffer() >= 20'000);
  CHECK(large->receive_buffer() >= 200'000);
  CHECK(large->receive_buffer() > small->receive_buffer());
}

TEST_CASE("a_handler_that_throws_loses_its_batch_only") {
  std::atomic<int> calls = 0;
  const auto receiver =
      UdpReceiver::open({}, {.on_batch = [&](const std::string&, const FrameBatch&) {
                          if (++calls == 1)
                            throw std::runtime_error("not today");
                        }});
  REQUIRE(receiver);
  const auto sender = sender_to((*receiver)->port());
  sender->send(some_frames(stream, 0, 1));
  REQUIRE(eventually([&] { return (*receiver)->ledger().handler_failed == 1; }));
  sender->send(some_frames(stream, 1, 1));
  CHECK(eventually([&] { return (*receiver)->ledger().handed_on == 1; }));
  CHECK((*receiver)->ledger().balanced());
}

TEST_CASE("senders_and_receivers_of_datagrams_stop_while_they_are_busy") {
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
    receiver.reset();
    stop = true;
    busy.join();
    CHECK(sender->ledger().balanced());
    sender.reset();
  }
}
