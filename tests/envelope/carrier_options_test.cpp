/// What carriers refuse to open, and how they say so.

#include "carriers.hpp"
#include "no_descriptors.hpp"

#include <datastream/envelope/tcp_receiver.hpp>
#include <datastream/envelope/tcp_sender.hpp>
#include <datastream/envelope/udp_receiver.hpp>
#include <datastream/envelope/udp_sender.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;
using Kind = CarrierError::Kind;

namespace {

template <class Opened>
CarrierError error_of(const Opened& opened) {
  REQUIRE(!opened);
  CHECK(!opened.error().message.empty());
  return opened.error();
}

template <class Listen, class Receiver>
void check_listening() {
  Taker taker;
  const auto error = [&](const Listen& listen) {
    return error_of(Receiver::open(listen, taker.handlers()));
  };
  const auto opens = [&](const Listen& listen) {
    return Receiver::open(listen, taker.handlers()).has_value();
  };
  CHECK(error({.address = "localhost"}).kind == Kind::bad_address);
  CHECK(error({.allow = {"127.0.0.1", "300.0.0.1"}}).kind == Kind::bad_address);
  for (const char* reachable : {"0.0.0.0", "::", "192.0.2.1", "::ffff:0.0.0.0"}) {
    CAPTURE(reachable);
    CHECK(error({.address = reachable}).kind == Kind::not_loopback);
    CHECK(error({.address = reachable}).message.find(reachable) != std::string::npos);
  }
  CHECK(opens({.address = "0.0.0.0", .any_interface = true}));
  CHECK(opens({.address = "127.0.0.2"}));
  CHECK(error({.address = "192.0.2.1", .any_interface = true}).kind == Kind::cannot_bind);
  CHECK(error_of(Receiver::open({}, {})).kind == Kind::bad_option);

  const auto first = Receiver::open({}, taker.handlers());
  REQUIRE(first);
  const CarrierError taken = error({.port = (*first)->port()});
  CHECK(taken.kind == Kind::cannot_bind);
  CHECK(taken.message.find("127.0.0.1:" + std::to_string((*first)->port())) != std::string::npos);
}

template <class Peer, class Sender>
void check_peers() {
  const CarrierError unknown =
      error_of(Sender::open(Peer{.host = "no.such.host.invalid", .port = 1}));
  CHECK(unknown.kind == Kind::cannot_resolve);
  CHECK(unknown.message.find("no.such.host.invalid") != std::string::npos);
  CHECK(error_of(Sender::open(Peer{.port = 0})).kind == Kind::bad_option);
  CHECK(error_of(Sender::open(Peer{.host = "", .port = 1})).kind == Kind::bad_option);
  for (const SendBounds bounds : {SendBounds{.frames = 0}, SendBounds{.bytes = 0}})
    CHECK(error_of(Sender::open(Peer{.host = "127.0.0.1", .port = 1, .queue = bounds})).kind ==
          Kind::bad_option);
}

} // namespace

TEST_CASE("a_udp_receiver_says_why_it_cannot_be_opened") {
  check_listening<UdpListen, UdpReceiver>();
}

TEST_CASE("a_tcp_receiver_says_why_it_cannot_be_opened") {
  check_listening<TcpListen, TcpReceiver>();
  Taker taker;
  const auto kind = [&](const TcpListen& listen) {
    return error_of(TcpReceiver::open(listen, taker.handlers())).kind;
  };
  CHECK(kind({.envelope_max = 27}) == Kind::bad_option);
  CHECK(kind({.envelope_max = 1ULL << 32U}) == Kind::bad_option);
  CHECK(kind({.connections_max = 0}) == Kind::bad_option);
  CHECK(kind({.keepalive = {.idle = std::chrono::seconds(0)}}) == Kind::bad_option);
  CHECK(kind({.keepalive = {.timeout = std::chrono::seconds(32'768)}}) == Kind::bad_option);
}

TEST_CASE("a_udp_sender_says_why_it_cannot_be_opened") {
  check_peers<UdpPeer, UdpSender>();
}

TEST_CASE("a_tcp_sender_says_why_it_cannot_be_opened") {
  check_peers<TcpPeer, TcpSender>();
  using std::chrono::milliseconds;
  const auto kind = [](TcpPeer peer) {
    peer.port = 1;
    return error_of(TcpSender::open(peer)).kind;
  };
  CHECK(kind({.envelope_max = 27}) == Kind::bad_option);
  CHECK(kind({.retry_first = milliseconds(0)}) == Kind::bad_option);
  CHECK(kind({.retry_first = milliseconds(2), .retry_most = milliseconds(1)}) == Kind::bad_option);
  CHECK(kind({.retry_most = std::chrono::hours(25)}) == Kind::bad_option);
  CHECK(kind({.connect_timeout = milliseconds(0)}) == Kind::bad_option);
  CHECK(kind({.keepalive = {.interval = std::chrono::seconds(0)}}) == Kind::bad_option);
}

#if !defined(__SANITIZE_ADDRESS__) // which brings UBSan, that needs a pipe to look at an exception
TEST_CASE("without_descriptors_nothing_opens_and_all_say_so") {
  Taker taker;
  std::vector<CarrierError> errors;
  {
    const NoDescriptors none;
    const auto note = [&](const auto& opened) {
      if (!opened)
        errors.push_back(opened.error());
    };
    note(UdpReceiver::open({}, taker.handlers()));
    note(TcpReceiver::open({}, taker.handlers()));
    note(UdpSender::open({.host = "127.0.0.1", .port = 1}));
    note(TcpSender::open({.host = "127.0.0.1", .port = 1}));
  }
  REQUIRE(errors.size() == 4);
  for (const CarrierError& error : errors) {
    CHECK(error.kind == Kind::system);
    CHECK(error.message.find("Too many open files") != std::string::npos);
  }
}
#endif

TEST_CASE("kinds_of_errors_of_carriers_have_names") {
  CHECK(to_string(Kind::bad_address) == "bad_address");
  CHECK(to_string(Kind::not_loopback) == "not_loopback");
  CHECK(to_string(Kind::cannot_resolve) == "cannot_resolve");
  CHECK(to_string(Kind::cannot_bind) == "cannot_bind");
  CHECK(to_string(Kind::bad_option) == "bad_option");
  CHECK(to_string(Kind::system) == "system");
}

TEST_CASE("losses_of_a_sender_are_found_by_their_reason") {
  const SendLosses losses{1, 2, 3, 4, 5, 6, 7};
  CHECK(losses.count(LossReason::send_queue_full) == 1);
  CHECK(losses.count(LossReason::envelope_too_large) == 2);
  CHECK(losses.count(LossReason::connection_broken) == 3);
  CHECK(losses.count(LossReason::not_encodable) == 4);
  CHECK(losses.count(LossReason::kernel_refused) == 5);
  CHECK(losses.count(LossReason::peer_refused) == 6);
  CHECK(losses.count(LossReason::out_of_memory) == 7);
  CHECK(losses.count(LossReason::evicted) == 0);
  CHECK(losses.total() == 28);
}
