/// Carriers when any one allocation fails: what is lost is counted, and for what it is.

#include <under_tsan.hpp>

#if !DATASTREAM_UNDER_TSAN

#include "../../legacy_envelope/src/intake.hpp"
#include "../../legacy_envelope/src/outgoing_envelopes.hpp"
#include "carriers.hpp"
#include "no_descriptors.hpp"
#include "replaced_log_sink.hpp"

#include <datastream/envelope/admission.hpp>
#include <datastream/envelope/framing.hpp>
#include <datastream/envelope/tcp_receiver.hpp>
#include <datastream/log_sink.hpp>

#include <shortage.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

/// Calls `run` with every single allocation failing in turn, and last with none.
template <class Run>
void with_every_shortage(Run run) {
  std::size_t n = 0;
  bool happened = true;
  for (; happened; ++n) {
    CAPTURE(n);
    run(n);
    happened = Shortage::happened();
  }
  CHECK(n > 3);
}

} // namespace

TEST_CASE("what_a_receiver_has_no_memory_for_is_lost_and_is_not_called_malformed") {
  // Frames of several streams, one of them more than a batch has, and one that is none.
  std::vector<std::string> envelopes;
  for (const char* node : {"a", "b", "c"})
    for (const Delivery& delivery : deliveries_of(some_frames({node, {1}}, 0, 10)))
      envelopes.push_back(envelope_of(delivery));
  envelopes.emplace_back("no envelope");
  for (const Delivery& delivery : deliveries_of(some_frames({"a", {1}}, 10, 1100)))
    envelopes.push_back(envelope_of(delivery));
  std::string bytes;
  for (const std::string& envelope : envelopes)
    bytes += envelope;
  const BlockPtr block = allocate_block(bytes.size());
  std::memcpy(block->data(), bytes.data(), bytes.size());

  std::uint64_t most_lost = 0;
  with_every_shortage([&](std::size_t n) {
    std::uint64_t seen = 0;
    const ReceiverHandlers handlers{
        .on_batch = [&](const std::string&, const FrameBatch& batch) { seen += batch.size(); }};
    ReceiverCounts counts;
    EnvelopeIntake intake("peer", handlers, counts);
    {
      const Shortage shortage(n);
      const char* at = block->data();
      for (const std::string& envelope : envelopes) {
        intake.add({at, envelope.size()}, block);
        at += envelope.size();
      }
      intake.hand_on(block);
    }
    const ReceiverLedger ledger = counts.now();
    CHECK(ledger.received == envelopes.size());
    CHECK(ledger.malformed.total() == 1);
    CHECK(ledger.held == 0);
    CHECK(ledger.handed_on == seen);
    CHECK(ledger.balanced());
    CHECK((ledger.out_of_memory > 0) == Shortage::happened());
    most_lost = std::max(most_lost, ledger.out_of_memory);
  });
  CHECK(most_lost >= 100); // those of a batch for which there was no memory
}

TEST_CASE("what_an_admission_has_no_memory_for_is_counted_and_may_come_again") {
  const StreamId a{"a", {1}};
  const FrameBatch first = some_frames(a, 0, 20);
  const FrameBatch with_duplicates = some_frames(a, 10, 20);
  const FrameBatch other = some_frames({"a stream of somebody else's node", {1}}, 0, 5);
  with_every_shortage([&](std::size_t n) {
    FrameAdmission admission;
    const FrameAdmission::Time now{};
    std::size_t admitted = 0;
    {
      const Shortage shortage(n);
      for (const FrameBatch* batch : {&first, &with_duplicates, &other}) {
        admitted += admission.admit({0, "a peer"}, *batch, now).size();
        admission.peer_left({0, "a peer"});
      }
    }
    const AdmissionLedger before = admission.ledger();
    CHECK(before.balanced());
    CHECK(before.admitted == admitted);
    CHECK((before.out_of_memory > 0) == Shortage::happened());
    for (const FrameBatch* batch : {&first, &with_duplicates, &other})
      admitted += admission.admit({0, "a peer"}, *batch, now).size();
    CHECK(admitted == 35); // each of them once
    CHECK(admission.sender_of(other.stream()) != nullptr);
  });
}

TEST_CASE("what_a_sender_has_no_memory_for_is_lost_and_counted") {
  const FrameBatch batch = some_frames({"a", {1}}, 0, 100, 50);
  with_every_shortage([&](std::size_t n) {
    SendQueue queue({.frames = 500, .bytes = 12'000});
    OutgoingEnvelopes outgoing(queue, {.envelope_bytes = 1000, .frames = 64, .bytes = 4096});
    std::size_t accepted = 0;
    {
      const Shortage shortage(n);
      for (int i = 0; i < 3; ++i) // the last one fits in part, and is copied
        accepted += queue.offer(batch).frames;
      while (outgoing.refill())
        queue.sent(outgoing.frames());
    }
    const SenderLedger ledger = queue.ledger();
    CHECK(ledger.offered == 300);
    CHECK(ledger.queued == 0);
    CHECK(ledger.balanced());
    CHECK(ledger.sent <= accepted);
    CHECK((ledger.lost.out_of_memory > 0) == Shortage::happened());
    CHECK(ledger.lost.total() == ledger.lost.out_of_memory + ledger.lost.send_queue_full);
  });
}

TEST_CASE("a_receiver_that_finds_no_memory_while_it_accepts_accepts_the_next_peer") {
  for (std::size_t n = 0;; ++n) {
    CAPTURE(n);
    std::unique_ptr<Shortage> shortage; // of the receiver's thread, which fails to accept first
    std::optional<NoDescriptors> none;  // until then: sanitizers need some to look at exceptions
    std::atomic<bool> begun{false};
    const ReplacedLogSink sink([&](LogSeverity, std::string_view text) {
      if (shortage || text.find("cannot accept") == std::string_view::npos)
        return;
      none.reset();
      shortage = std::make_unique<Shortage>(n);
      begun = true;
    });
    std::atomic<bool> happened{false};
    std::atomic<bool> arrived{false};
    {
      auto receiver = TcpReceiver::open({}, {.on_batch = [&](const auto&, const auto&) {
                                          happened = Shortage::happened();
                                          Shortage::end();
                                          arrived = true;
                                        }});
      REQUIRE(receiver);
      const std::uint16_t port = (*receiver)->port();
      RawSocket first(SOCK_STREAM);
      none.emplace();
      first.connect_to(port);
      REQUIRE(eventually([&] { return begun.load(); }));
      CHECK(eventually([&] { return (*receiver)->ledger().accept_failures > 0; }));
      // Those for whom there is no memory are closed, and so call again.
      const std::string envelope = framed(envelope_of({{"a", {1}}, {{1}, {0}, "x"}}));
      CHECK(eventually([&] {
        const RawSocket next = RawSocket::connected(SOCK_STREAM, port);
        static_cast<void>(::send(next.fd(), envelope.data(), envelope.size(), MSG_NOSIGNAL));
        return eventually([&] { return arrived.load(); }, std::chrono::milliseconds(100));
      }));
      CHECK((*receiver)->ledger().balanced());
    }
    if (!happened)
      break;
  }
}

TEST_CASE("a_framing_that_finds_no_memory_keeps_what_it_has") {
  EnvelopeFraming framing;
  {
    const Shortage shortage(0);
    CHECK(framing.room().empty());
  }
  const std::string stream = framed(std::string(EnvelopeFraming::chunk_bytes, 'x'));
  std::memcpy(framing.room().data(), stream.data(), EnvelopeFraming::chunk_bytes);
  framing.fill(EnvelopeFraming::chunk_bytes);
  CHECK(!framing.next());
  {
    const Shortage shortage(0);
    CHECK(framing.room().empty());
  }
  CHECK(framing.incomplete() == EnvelopeFraming::chunk_bytes);
  REQUIRE(framing.room().size() >= 4);
  std::memcpy(framing.room().data(), stream.data() + EnvelopeFraming::chunk_bytes, 4);
  framing.fill(4);
  const auto envelope = framing.next();
  REQUIRE(envelope);
  CHECK(framed(*envelope) == stream);
}

#endif
