#include <datastream/testing/scripted_transport.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::testing;

namespace {

const StreamId stream_id{"node", {1}};

std::vector<Frame> frames(std::uint64_t count) {
  std::vector<Frame> result;
  for (std::uint64_t i = 0; i < count; ++i)
    result.push_back({{1}, {i}, "payload " + std::to_string(i)});
  return result;
}

/// The positions that arrive, in order; also checks that nothing else of a frame is changed.
std::vector<std::uint64_t> arriving(const Script& script, std::uint64_t count) {
  const std::vector<Frame> sent = frames(count);
  std::vector<std::uint64_t> positions;
  for (const Delivery& delivery : ScriptedTransport{script}.carry(stream_id, sent)) {
    CHECK(delivery.stream == stream_id);
    CHECK(delivery.frame == sent[delivery.frame.position.value]);
    positions.push_back(delivery.frame.position.value);
  }
  return positions;
}

using Positions = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("a_transport_without_a_script_delivers_all_in_order") {
  CHECK(arriving({}, 4) == Positions{0, 1, 2, 3});
  CHECK(arriving({}, 0).empty());
}

TEST_CASE("dropped_positions_never_arrive") {
  CHECK(arriving({.drop = {{0}, {2}, {9}}}, 4) == Positions{1, 3});
}

TEST_CASE("frames_are_dropped_before_they_are_reordered") {
  CHECK(arriving({.drop = {{1}}, .reorder = reorder::Reversed{}}, 4) == Positions{3, 2, 0});
  CHECK(arriving({.drop = {{0}}, .reorder = reorder::Permutation{{0, 1}}}, 4) == Positions{1, 2});
}

TEST_CASE("windows_are_reversed_one_by_one") {
  CHECK(arriving({.reorder = reorder::Windows{3}}, 7) == Positions{2, 1, 0, 5, 4, 3, 6});
  CHECK(arriving({.reorder = reorder::Windows{0}}, 3) == Positions{0, 1, 2});
  CHECK(arriving({.reorder = reorder::Windows{100}}, 3) == Positions{2, 1, 0});
}

TEST_CASE("a_permutation_drops_what_it_lacks_and_duplicates_what_it_repeats") {
  CHECK(arriving({.reorder = reorder::Permutation{{2, 0, 2, 7}}}, 4) == Positions{2, 0, 2});
}

TEST_CASE("duplicates_follow_their_original") {
  CHECK(arriving({.duplicate = {{{1}, 2}, {{2}, 0}}}, 3) == Positions{0, 1, 1, 1, 2});
}

TEST_CASE("a_delayed_frame_lets_so_many_pass") {
  CHECK(arriving({.delay = {{{0}, 2}}}, 5) == Positions{1, 2, 0, 3, 4});
  CHECK(arriving({.delay = {{{0}, 2}, {{1}, 1}}}, 5) == Positions{2, 0, 1, 3, 4});
  CHECK(arriving({.delay = {{{1}, static_cast<std::size_t>(-1)}}}, 4) == Positions{0, 2, 3, 1});
}

TEST_CASE("streams_that_share_a_transport_take_turns") {
  const StreamId other{"other", {1}};
  const std::vector<SentStream> sent{{stream_id, frames(3)}, {other, frames(1)}};
  const auto deliveries = ScriptedTransport{{.reorder = reorder::Reversed{}}}.carry_all(sent);
  const auto all = frames(3);
  CHECK(deliveries ==
        std::vector<Delivery>{
            {stream_id, all[2]}, {other, all[0]}, {stream_id, all[1]}, {stream_id, all[0]}});
}

TEST_CASE("a_batch_is_carried_like_its_frames") {
  const ScriptedTransport transport{{.drop = {{1}}, .reorder = reorder::Windows{2}}};
  CHECK(transport.carry(FrameBatch::copy_of(stream_id, frames(5))) ==
        transport.carry(stream_id, frames(5)));
  CHECK(transport.carry(FrameBatch{}).empty());
}
