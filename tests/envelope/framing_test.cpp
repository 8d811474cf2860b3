/// Envelopes out of a stream of bytes, however it is cut.

#include "carriers.hpp"

#include <datastream/envelope/framing.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

constexpr std::size_t chunk = EnvelopeFraming::chunk_bytes;

/// Bytes on their way into a framing, in pieces.
class Feed {
public:
  explicit Feed(EnvelopeFraming& framing) : framing_(framing) {}

  /// At most so many bytes of `bytes` as there is room for; takes them away.
  void piece(std::string_view& bytes, std::size_t most) {
    const auto room = framing_.room();
    REQUIRE(!room.empty());
    const std::size_t count = std::min({most, room.size(), bytes.size()});
    std::memcpy(room.data(), bytes.data(), count);
    framing_.fill(count);
    bytes.remove_prefix(count);
    while (const auto envelope = framing_.next()) {
      if (keeps_blocks)
        blocks.push_back(framing_.block());
      envelopes.emplace_back(*envelope);
    }
  }
  void all(std::string_view bytes, std::size_t most = ~std::size_t{0}) {
    while (!bytes.empty() && !framing_.over_maximum())
      piece(bytes, most);
  }

  bool keeps_blocks = false;
  std::vector<std::string> envelopes;
  std::vector<BlockPtr> blocks;

private:
  EnvelopeFraming& framing_;
};

} // namespace

TEST_CASE("envelopes_come_out_of_a_stream_as_they_went_in_wherever_it_is_cut") {
  CHECK(rc::check([] {
    const auto sizes = *rc::gen::container<std::vector<std::size_t>>(
        rc::gen::oneOf(rc::gen::inRange<std::size_t>(0, 200),
                       rc::gen::inRange<std::size_t>(chunk - 10, chunk + 10),
                       rc::gen::inRange<std::size_t>(0, 3 * chunk)));
    std::vector<std::string> expected;
    std::string stream;
    for (const std::size_t size : sizes) {
      expected.emplace_back(size, static_cast<char>('a' + expected.size() % 26));
      stream += framed(expected.back());
    }
    EnvelopeFraming framing;
    Feed feed(framing);
    feed.keeps_blocks = *rc::gen::arbitrary<bool>();
    std::string_view rest = stream;
    while (!rest.empty())
      feed.piece(rest, *rc::gen::oneOf(rc::gen::inRange<std::size_t>(1, 9),
                                       rc::gen::inRange<std::size_t>(9, 2 * chunk)));
    RC_ASSERT(feed.envelopes == expected);
    RC_ASSERT(framing.incomplete() == 0);
  }));
}

TEST_CASE("every_byte_may_come_alone") {
  const std::string stream = framed("first") + framed("") + framed("third");
  EnvelopeFraming framing;
  Feed feed(framing);
  feed.all(stream, 1);
  CHECK(feed.envelopes == std::vector<std::string>{"first", "", "third"});
}

TEST_CASE("what_was_given_out_stays_where_it_is_while_somebody_shares_the_block") {
  EnvelopeFraming framing;
  Feed feed(framing);
  std::string first = framed(std::string(chunk / 2, 'x'));
  feed.all(first + std::string("\x05\0\0\0ab", 6));
  const BlockPtr kept = framing.block();
  const std::string before(kept->data(), first.size());
  feed.all("cde");
  feed.all(framed(std::string(chunk / 2, 'y')));
  CHECK(feed.envelopes.size() == 3);
  CHECK(feed.envelopes[1] == "abcde");
  CHECK(framing.block().get() != kept.get());
  CHECK(std::string(kept->data(), first.size()) == before);
}

TEST_CASE("a_block_that_nobody_shares_is_used_again") {
  EnvelopeFraming framing;
  Feed feed(framing);
  feed.all(framed("x"));
  const char* const memory = framing.block()->data();
  for (int i = 0; i < 100; ++i)
    feed.all(framed(std::string(chunk / 3, 'x')), 1000);
  CHECK(framing.block()->data() == memory);
}

TEST_CASE("a_length_that_claims_much_costs_no_memory_before_the_bytes_come") {
  EnvelopeFraming framing(1U << 30U);
  Feed feed(framing);
  feed.all(std::string("\xff\xff\xff\x3f", 4)); // a gigabyte
  CHECK(framing.block()->capacity() == chunk);
  for (std::size_t arrived = 4; arrived < 40 * chunk; arrived += 1000) {
    feed.all(std::string(1000, 'x'));
    CHECK(framing.block()->capacity() <= std::max(chunk, 2 * framing.incomplete()));
  }
  CHECK(feed.envelopes.empty());
  CHECK(!framing.over_maximum());
}

TEST_CASE("a_large_envelope_fills_its_block_and_the_next_ones_do_not_pay_for_it") {
  EnvelopeFraming framing;
  Feed feed(framing);
  const std::string large(10 * chunk, 'x');
  feed.all(framed(large));
  CHECK(framing.block()->capacity() == large.size() + 4);
  feed.all(framed("small"));
  CHECK(framing.block()->capacity() == chunk);
  CHECK(feed.envelopes == std::vector<std::string>{large, "small"});
}

TEST_CASE("an_envelope_of_the_largest_size_passes_and_one_more_byte_ends_it_all") {
  EnvelopeFraming framing(1000);
  Feed feed(framing);
  feed.all(framed(std::string(1000, 'x')));
  CHECK(feed.envelopes.size() == 1);
  CHECK(!framing.over_maximum());
  feed.all(framed("last") + framed(std::string(1001, 'x')) + framed("never"));
  CHECK(framing.over_maximum());
  CHECK(!framing.next());
  CHECK(feed.envelopes.size() == 2);
  CHECK(feed.envelopes.back() == "last");
}
