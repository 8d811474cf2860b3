#include <datastream/ingest/consumer.hpp>
#include <datastream/testing/scripted_transport.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace datastream;

/// Delivering a position again, by itself or in a batch, with the same bytes or with others, leaves
/// the frame that was stored first.
TEST_CASE("invariant_10_idempotent_ingest") {
  const StreamId id{"node", {1}};
  std::mt19937_64 random(10);
  std::vector<Frame> frames;
  std::vector<Frame> forged;
  testing::Script script;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    frames.push_back({{1}, {i * 3}, std::to_string(i)});
    forged.push_back({{1}, {i * 3}, "forged " + std::to_string(i)});
    script.duplicate[{i * 3}] = random() % 3;
    script.delay[{i * 3}] = random() % 50;
  }
  std::size_t copies = 0;
  for (const auto& [position, extra] : script.duplicate)
    copies += extra;

  Consumer consumer;
  CHECK(consumer.ingest(testing::ScriptedTransport{script}.carry(id, frames)) == frames.size());
  const StoredStream& stream = *consumer.store().find(id);
  const auto holds_the_first = [&] {
    return std::ranges::equal(stream.frames(), frames, {}, &FrameView::to_frame);
  };
  CHECK(holds_the_first());
  CHECK(stream.ledger().duplicates == copies);

  CHECK(consumer.accept(FrameBatch::copy_of(id, frames)) == 0);
  CHECK(consumer.accept(FrameBatch::copy_of(id, forged)) == 0);
  CHECK(consumer.ingest(testing::ScriptedTransport{}.carry(id, forged)) == 0);
  CHECK(holds_the_first());
  const IngestLedger ledger = stream.ledger();
  CHECK(ledger.stored == frames.size());
  CHECK(ledger.duplicates == copies + frames.size());
  CHECK(ledger.conflicts == 2 * forged.size());
  CHECK(ledger.balanced());
}
