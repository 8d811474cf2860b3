#include "pipe_support.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <iterator>
#include <limits>
#include <thread>

using namespace datastream;
using pipe_test::frames_of;
using pipe_test::stream_id;

static_assert(std::random_access_iterator<FrameBatch::Iterator>);

namespace {

const std::vector<Frame> three = {{ChannelId{1}, Position{5}, "alpha"},
                                  {ChannelId{0}, Position{6}, ""},
                                  {ChannelId{9}, Position{8}, std::string("\0\xff", 2)}};

BlockPtr block_of(std::string_view bytes) {
  BlockPtr block = allocate_block(bytes.size());
  std::memcpy(block->data(), bytes.data(), bytes.size());
  return block;
}

FrameHeader header(std::uint64_t position, std::uint32_t offset, std::uint32_t length) {
  return {Position{position}, ChannelId{1}, offset, length};
}

} // namespace

TEST_CASE("a_batch_copied_from_frames_gives_back_the_same_frames") {
  const FrameBatch batch = FrameBatch::copy_of(stream_id, three);
  CHECK(batch.stream() == stream_id);
  CHECK(batch.size() == 3);
  CHECK(frames_of({batch}) == three);
  CHECK(batch.front().payload == "alpha");
  CHECK(batch.back().position == Position{8});
  CHECK(batch.payload_bytes() == 7);
  CHECK(batch.pinned_bytes() == 7);
}

TEST_CASE("payloads_without_bytes_and_without_an_address_are_copied") {
  const FrameView nothing[] = {{{1}, {0}, {}, {}}, {{1}, {1}, "x", {}}, {{1}, {2}, {}, {}}};
  const FrameBatch batch = FrameBatch::copy_of(stream_id, nothing);
  REQUIRE(batch.size() == 3);
  CHECK(batch[0].payload.empty());
  CHECK(batch[1].payload == "x");
  CHECK(batch[2].payload.empty());
}

TEST_CASE("an_empty_batch_has_no_frames_no_stream_and_no_block") {
  for (const FrameBatch& batch :
       {FrameBatch(), FrameBatch::copy_of(stream_id, std::span<const Frame>()),
        FrameBatch::copy_of(stream_id, three).slice(1, 0), FrameBatch().compact()}) {
    CHECK(batch.empty());
    CHECK(batch.begin() == batch.end());
    CHECK(batch.headers().empty());
    CHECK(batch.pinned_bytes() == 0);
    CHECK(batch.shared_stream() == nullptr);
    CHECK(!batch.block());
  }
}

TEST_CASE("a_slice_shares_the_block_and_compacting_it_lets_go") {
  const FrameBatch batch = FrameBatch::copy_of(stream_id, three);
  const FrameBatch tail = batch.slice(1, 2);
  CHECK(tail.block().get() == batch.block().get());
  CHECK(tail.pinned_bytes() == 7);
  CHECK(tail.payload_bytes() == 2);
  CHECK(frames_of({tail}) == std::vector<Frame>(three.begin() + 1, three.end()));
  CHECK(frames_of({tail.slice(1, 1)}) == std::vector<Frame>{three[2]});

  const FrameBatch small = tail.compact();
  CHECK(small.block().get() != batch.block().get());
  CHECK(small.pinned_bytes() == 2);
  CHECK(small.stream() == stream_id);
  CHECK(frames_of({small}) == frames_of({tail}));
}

TEST_CASE("a_slice_outlives_the_batch_that_it_came_from") {
  FrameBatch slice;
  {
    const FrameBatch batch = FrameBatch::copy_of(stream_id, three);
    slice = batch.slice(2, 1);
  }
  CHECK(frames_of({slice}) == std::vector<Frame>{three[2]});
}

TEST_CASE("copies_of_a_batch_can_come_and_go_on_many_threads") {
  const FrameBatch batch = FrameBatch::copy_of(stream_id, three);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&wrong, copy = batch] {
      for (int i = 0; i < 2000; ++i) {
        const FrameBatch part = copy.slice(static_cast<std::size_t>(i) % 3, 1);
        wrong += part.front().to_frame() == three[static_cast<std::size_t>(i) % 3] ? 0 : 1;
      }
    });
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("iterators_of_a_batch_walk_in_both_directions_and_jump") {
  const FrameBatch batch = FrameBatch::copy_of(stream_id, three);
  auto it = batch.begin();
  CHECK((*it++).position == Position{5});
  CHECK((*it).position == Position{6});
  CHECK(it[1].position == Position{8});
  CHECK((*(it += 1)).position == Position{8});
  CHECK((*--it).position == Position{6});
  CHECK((*it--).position == Position{6});
  CHECK(it == batch.begin());
  CHECK(batch.end() - batch.begin() == 3);
  CHECK(batch.begin() + 3 == batch.end());
  CHECK(batch.begin() < batch.end());
}

TEST_CASE("a_batch_from_a_peer_shares_the_block_that_it_came_in") {
  const BlockPtr block = block_of("alphabeta");
  const std::vector<FrameHeader> headers = {header(0, 0, 5), header(1, 5, 4), header(2, 9, 0)};
  const auto batch = FrameBatch::from_wire(stream_id, headers, block);
  REQUIRE(batch);
  CHECK(batch->block().get() == block.get());
  CHECK((*batch)[0].payload == "alpha");
  CHECK((*batch)[1].payload == "beta");
  CHECK((*batch)[2].payload.empty());
}

TEST_CASE("a_header_that_leaves_its_block_is_named_and_refused") {
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  for (const FrameHeader& bad : {header(1, 0, 10), header(1, 9, 1), header(1, 10, 0),
                                 header(1, most, 1), header(1, 1, most), header(1, most, most)}) {
    const std::vector<FrameHeader> headers = {header(0, 0, 0), bad, header(2, 0, 0)};
    const auto batch = FrameBatch::from_wire(stream_id, headers, block_of("alphabeta"));
    REQUIRE(!batch);
    CHECK(batch.error().header == 1);
  }
}

TEST_CASE("payloads_from_a_peer_that_overlap_into_more_than_their_block_are_refused") {
  // Each header is fine; together they would turn 9 bytes into 45 wherever they are copied.
  const std::vector<FrameHeader> headers(5, header(0, 0, 9));
  const auto batch = FrameBatch::from_wire(stream_id, headers, block_of("alphabeta"));
  REQUIRE(!batch);
  CHECK(batch.error().header == 1);
}

TEST_CASE("a_batch_from_a_peer_without_a_block_can_only_hold_empty_payloads") {
  const std::vector<FrameHeader> empty = {header(0, 0, 0)};
  const auto batch = FrameBatch::from_wire(stream_id, empty, BlockPtr());
  REQUIRE(batch);
  CHECK(batch->front().payload.empty());
  CHECK(frames_of({batch->compact()}) == frames_of({*batch}));

  const std::vector<FrameHeader> full = {header(0, 0, 1)};
  CHECK(!FrameBatch::from_wire(stream_id, full, BlockPtr()));
  CHECK(FrameBatch::from_wire(stream_id, {}, BlockPtr())->empty());
}

TEST_CASE("reserved_bytes_of_a_peers_header_are_not_passed_on") {
  FrameHeader odd = header(3, 0, 1);
  odd.reserved = 77;
  const auto batch = FrameBatch::from_wire(stream_id, {&odd, 1}, block_of("x"));
  REQUIRE(batch);
  CHECK(batch->headers().front().reserved == 0);
}

TEST_CASE("an_adopted_string_is_not_copied") {
  std::string text(100'000, 'x');
  const char* bytes = text.data();
  const BlockPtr block = adopt_string(std::move(text));
  CHECK(static_cast<const char*>(block->data()) == bytes);
  CHECK(block->capacity() == 100'000);
}

TEST_CASE("a_batch_that_was_moved_from_is_an_empty_one") {
  FrameBatch first = pipe_test::batch_of(stream_id, 0, 3);
  FrameBatch second = std::move(first);
  CHECK(first.empty());
  CHECK(first.begin() == first.end());
  CHECK(first.headers().empty());
  CHECK(second.size() == 3);
  first = std::move(second);
  CHECK(second.empty());
  CHECK(first.back().position == Position{2});
}
