/// Specification 9.1, invariant 1: no code between a producer's submission and a view's decoding
/// inspects, parses or branches on payload bytes.

#include <datastream/pipe/endpoint.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace datastream;

namespace {

/// Payloads that text, JSON or record readers would stumble over.
std::vector<std::string> awkward_payloads() {
  std::vector<std::string> payloads = {"",
                                       std::string(1, '\0'),
                                       "\n",
                                       "\r\n",
                                       "{",
                                       "null",
                                       "{\"a\":1}",
                                       "\xff\xfe",
                                       "\xc3",
                                       std::string("a\0b", 3),
                                       "datastream.health",
                                       std::string(70'000, '\0'),
                                       std::string(300'000, '{')};
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte)
    every_byte.push_back(static_cast<char>(byte));
  payloads.push_back(every_byte);
  return payloads;
}

void submit_in_every_form(const DatastreamProducer& out, ChannelId channel,
                          const std::string& bytes) {
  const std::vector<std::string_view> many = {bytes, bytes};
  REQUIRE(out.submit_bytes(channel, bytes));
  REQUIRE(out.submit_bytes(channel, std::as_bytes(std::span(bytes))));
  REQUIRE(out.submit_bytes_owned(channel, bytes));
  REQUIRE(out.submit_text(channel, bytes));
  REQUIRE(out.submit_text_owned(channel, bytes));
  REQUIRE(out.submit_many(channel, many) == 2);
}

} // namespace

TEST_CASE("invariant_01_opaque_producer_payloads") {
  DatastreamEndpoint endpoint(StreamId{"node", {1}});
  const DatastreamProducer out = endpoint.producer();
  auto reader = endpoint.subscribe("reader");
  const std::vector<ChannelId> channels = {
      out.register_channel("bytes", Bytes{}), out.register_channel("text", TextStream{}),
      out.register_channel("record", JsonRecord{"record"}), ChannelId{0}, ChannelId{99}};

  SUBCASE("bytes arrive as they were submitted, whatever they are and whatever the channel says") {
    for (const std::string& payload : awkward_payloads())
      for (const ChannelId channel : channels) {
        submit_in_every_form(out, channel, payload);
        REQUIRE(endpoint.tick().delivered == 7);
        std::size_t intact = 0;
        while (auto delivery = reader.try_recv())
          for (const FrameView& frame : delivery->frames)
            intact += frame.channel == channel && frame.payload == payload ? 1 : 0;
        CHECK(intact == 7);
      }
  }

  SUBCASE("what is accepted depends on sizes and not on contents") {
    const auto ledger_of = [](char fill) {
      DatastreamEndpoint full(StreamId{"node", {1}}, {.mux = {.frames = 9, .bytes = 400'000}});
      for (const std::string& payload : awkward_payloads())
        full.producer().submit_bytes(ChannelId{1}, std::string(payload.size(), fill));
      full.tick();
      return full.ledger();
    };
    CHECK(ledger_of('\0') == ledger_of('{'));
    CHECK(ledger_of('\xff') == ledger_of('a'));
    CHECK(ledger_of('a').refused.total() > 0);
  }
}
