/// Specification 9.1, invariant 5: a full mux drops before a position is assigned, and so leaves no
/// hole.

#include <datastream/pipe/endpoint.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace datastream;

TEST_CASE("invariant_05_queue_drops_are_pre_position") {
  const std::string large(100'000, 'x');
  for (const std::size_t capacity : {1U, 2U, 5U}) {
    DatastreamEndpoint endpoint(StreamId{"node", {1}},
                                {.mux = {.frames = capacity, .bytes = 200'000}});
    const DatastreamProducer out = endpoint.producer();
    auto reader = endpoint.subscribe("reader");
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < round % 8; ++i) {
        const bool taken = i % 3 == 2 ? out.submit_bytes(ChannelId{1}, large)
                                      : out.submit_text(ChannelId{1}, std::to_string(accepted));
        ++(taken ? accepted : refused);
      }
      endpoint.tick();
    }
    std::uint64_t next = 0;
    while (auto delivery = reader.try_recv()) {
      CHECK(delivery->dropped == 0);
      for (const FrameView& frame : delivery->frames) {
        CHECK(frame.position == Position{next});
        if (frame.payload != large)
          CHECK(frame.payload == std::to_string(next));
        ++next;
      }
    }
    CHECK(refused > 0);
    CHECK(next == accepted);
    const PipeLedger ledger = endpoint.ledger();
    CHECK(ledger.assigned == accepted);
    CHECK(ledger.refused.total() == refused);
    CHECK(ledger.submitted() == accepted + refused);
  }
}
