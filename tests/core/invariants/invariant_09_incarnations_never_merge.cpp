#include <datastream/ingest/consumer.hpp>
#include <datastream/testing/scripted_transport.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace datastream;

/// The lives of one node use the same positions and the same channel ids, arrive interleaved, and
/// are streams of their own all the same: frames, gaps, names and ledgers.
TEST_CASE("invariant_09_incarnations_never_merge") {
  std::vector<testing::SentStream> lives;
  for (const std::uint64_t life : {1U, 2U, 3U}) {
    testing::SentStream sent{{"node", {life}}, {}};
    for (std::uint64_t i = 0; i < 100 * life; ++i)
      if (i % (life + 1) != 1)
        sent.frames.push_back({{1}, {i}, std::to_string(life) + '/' + std::to_string(i)});
    lives.push_back(std::move(sent));
  }

  Consumer consumer;
  for (const auto& sent : lives)
    consumer.accept(ChannelDeclared{{sent.stream, {1}, to_string(sent.stream), {}, Bytes{}}});
  consumer.ingest(testing::ScriptedTransport{}.carry_all(lives));
  for (const auto& sent : lives)
    CHECK(consumer.accept(FrameBatch::copy_of(sent.stream, sent.frames)) == 0);

  CHECK(consumer.conflicting_declarations() == 0);
  CHECK(consumer.store().size() == lives.size());
  for (const auto& sent : lives) {
    const StoredStream& stream = *consumer.store().find(sent.stream);
    CHECK(std::ranges::equal(stream.frames(), sent.frames, {}, &FrameView::to_frame));
    CHECK(stream.ledger().stored == sent.frames.size());
    CHECK(stream.ledger().duplicates == sent.frames.size());
    CHECK(stream.ledger().conflicts == 0);
    CHECK(consumer.channel_name(sent.stream, {1}) == to_string(sent.stream));
  }
}
