/// Against a peer in another language and process, which was written from the layout of the bytes
/// alone.

#include "carriers.hpp"

#include <child_process.hpp>

#include <datastream/envelope/tcp_receiver.hpp>
#include <datastream/envelope/tcp_sender.hpp>
#include <datastream/envelope/udp_receiver.hpp>
#include <datastream/envelope/udp_sender.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return bytes.empty() ? "-" : text;
}

/// The peer's line for an envelope.
std::string line_of(const Delivery& delivery) {
  return "envelope " + hexadecimal(delivery.stream.node.value) + ' ' +
         std::to_string(delivery.stream.life.value) + ' ' +
         std::to_string(delivery.frame.position.value) + ' ' +
         std::to_string(delivery.frame.channel.value) + ' ' + hexadecimal(delivery.frame.payload);
}

std::string every_byte(std::size_t bytes) {
  std::string payload;
  for (std::size_t at = 0; at < bytes; ++at)
    payload += static_cast<char>(at * 31 + (at >> 8U));
  return payload;
}

std::vector<Delivery> examples(std::size_t largest_payload) {
  return {
      {{"node-a", {7}}, {{1}, {3}, "hi"}},
      {{"n\xc3\xb8"
        "de-\xe2\x82\xac-\xf0\x9f\x8e\x89",
        {1}},
       {{2}, {0}, R"({"level":"info","text":"caf\u00e9"})"}},
      {{"", {~0ULL}}, {{~0U}, {~0ULL}, ""}},
      {{"node-a", {7}}, {{1}, {4}, every_byte(1000)}},
      {{"node-a", {7}}, {{1}, {5}, every_byte(largest_payload)}},
      {{"node-a", {8}}, {{1}, {0}, "last"}},
  };
}

/// Only within a stream is there an order.
std::map<StreamId, std::vector<Frame>> by_stream(const std::vector<Delivery>& deliveries) {
  std::map<StreamId, std::vector<Frame>> streams;
  for (const Delivery& delivery : deliveries)
    streams[delivery.stream].push_back(delivery.frame);
  return streams;
}

void to_peer(ChildProcess& peer, EnvelopeSender& sender, const std::vector<Delivery>& deliveries) {
  for (const Delivery& delivery : deliveries) {
    const Frame frames[] = {delivery.frame};
    CHECK(sender.send(FrameBatch::copy_of(delivery.stream, frames)) == 1);
    const auto line = peer.read_line();
    REQUIRE(line);
    CHECK((*line == line_of(delivery))); // without a megabyte of text if it is not
  }
}

void from_peer(ChildProcess& peer, const Taker& taker, const std::vector<Delivery>& deliveries) {
  for (const Delivery& delivery : deliveries)
    peer.write_line(line_of(delivery));
  REQUIRE(taker.has(deliveries.size()));
  CHECK((by_stream(taker.frames()) == by_stream(deliveries)));
}

} // namespace

TEST_CASE("a_peer_in_python_receives_our_datagrams") {
  ChildProcess peer({PYTHON3, LEGACY_PEER, "receive", "udp"});
  const auto port = static_cast<std::uint16_t>(std::stoul(peer.expect("port")));
  const auto sender = UdpSender::open({.host = "127.0.0.1", .port = port});
  REQUIRE(sender);
  to_peer(peer, **sender, examples(60'000));
}

TEST_CASE("a_peer_in_python_receives_our_connections") {
  ChildProcess peer({PYTHON3, LEGACY_PEER, "receive", "tcp"});
  const auto port = static_cast<std::uint16_t>(std::stoul(peer.expect("port")));
  const auto sender = TcpSender::open({.host = "127.0.0.1", .port = port});
  REQUIRE(sender);
  to_peer(peer, **sender, examples(1U << 20U));
}

TEST_CASE("we_receive_datagrams_of_a_peer_in_python") {
  Taker taker;
  const auto receiver = UdpReceiver::open({}, taker.handlers());
  REQUIRE(receiver);
  ChildProcess peer({PYTHON3, LEGACY_PEER, "send", "udp", std::to_string((*receiver)->port())});
  from_peer(peer, taker, examples(60'000));
}

TEST_CASE("we_receive_a_connection_of_a_peer_in_python") {
  Taker taker;
  const auto receiver = TcpReceiver::open({}, taker.handlers());
  REQUIRE(receiver);
  ChildProcess peer({PYTHON3, LEGACY_PEER, "send", "tcp", std::to_string((*receiver)->port())});
  from_peer(peer, taker, examples(1U << 20U));
}
