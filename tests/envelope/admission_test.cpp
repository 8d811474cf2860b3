/// What is let in of the frames that legacy peers send.

#include <datastream/envelope/admission.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace datastream;
using namespace std::chrono_literals;

namespace {

const StreamId stream{"node", {1}};
const PeerName alice{0, "alice"};
const PeerName bob{1, "bob"};
const FrameAdmission::Time start{};

FrameBatch batch_of(const StreamId& id, const std::vector<std::uint64_t>& positions) {
  std::vector<Frame> frames;
  for (const std::uint64_t position : positions)
    frames.push_back({{1}, {position}, std::to_string(position)});
  return FrameBatch::copy_of(id, frames);
}

std::vector<std::uint64_t> admitted(FrameAdmission& admission, const PeerName& peer,
                                    const StreamId& id, const std::vector<std::uint64_t>& positions,
                                    FrameAdmission::Time now = start) {
  std::vector<std::uint64_t> result;
  for (const FrameView& frame : admission.admit(peer, batch_of(id, positions), now)) {
    CHECK(frame.payload == std::to_string(frame.position.value));
    result.push_back(frame.position.value);
  }
  CHECK(admission.ledger().balanced());
  return result;
}

using Positions = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("every_position_of_a_stream_is_let_in_once_whoever_sends_it") {
  FrameAdmission admission;
  CHECK(admitted(admission, alice, stream, {0, 1, 2}) == Positions{0, 1, 2});
  CHECK(admitted(admission, alice, stream, {1, 5, 2, 6, 5}) == Positions{5, 6});
  CHECK(admitted(admission, bob, stream, {2, 3, 4, 6}) == Positions{3, 4});
  CHECK(admission.ledger().duplicates == 5);
  CHECK(admission.ledger().admitted == 7);
}

TEST_CASE("what_is_let_in_shares_the_memory_of_what_arrived_and_is_one_batch") {
  FrameAdmission admission;
  const FrameBatch batch = batch_of(stream, {0, 1});
  const FrameBatch whole = admission.admit(alice, batch, start);
  REQUIRE(whole.size() == 2);
  CHECK(whole.headers().data() == batch.headers().data());
  const FrameBatch every_other = batch_of(stream, {2, 0, 3, 1, 4});
  const FrameBatch part = admission.admit(alice, every_other, start);
  REQUIRE(part.size() == 3);
  CHECK(part[1].position == Position{3});
  CHECK(part[1].payload.data() == every_other[2].payload.data());
}

TEST_CASE("the_name_of_a_stream_is_in_memory_once_however_many_batches_bring_it") {
  FrameAdmission admission;
  const FrameBatch first = admission.admit(alice, batch_of(stream, {0}), start);
  const FrameBatch second = admission.admit(alice, batch_of(stream, {1}), start);
  const FrameBatch third = admission.admit(bob, batch_of(stream, {2, 1, 3}), start);
  CHECK(second.shared_stream() == first.shared_stream());
  CHECK(third.shared_stream() == first.shared_stream());
}

TEST_CASE("a_second_peer_that_sends_a_stream_is_counted_and_by_option_refused") {
  FrameAdmission lenient;
  FrameAdmission strict({.refuse_contested = true});
  for (FrameAdmission* admission : {&lenient, &strict})
    CHECK(admitted(*admission, alice, stream, {0, 1}) == Positions{0, 1});
  CHECK(admitted(lenient, bob, stream, {2, 3}) == Positions{2, 3});
  CHECK(lenient.ledger().contested == 2);
  CHECK(lenient.ledger().refused_contested == 0);
  CHECK(admitted(strict, bob, stream, {2, 3}).empty());
  CHECK(strict.ledger().contested == 2);
  CHECK(strict.ledger().refused_contested == 2);
  // What was refused was not seen: its owner may still send it.
  CHECK(admitted(strict, alice, stream, {2}) == Positions{2});
  CHECK(*strict.sender_of(stream) == alice);
}

TEST_CASE("a_claim_ends_when_its_peer_leaves_or_is_silent") {
  FrameAdmission admission({.refuse_contested = true, .claim_silence = 10s});
  admitted(admission, alice, stream, {0});
  admission.peer_left(bob); // has no claim
  CHECK(admitted(admission, bob, stream, {1}).empty());
  admission.peer_left(alice);
  CHECK(admitted(admission, bob, stream, {1}, start + 1s) == Positions{1});
  CHECK(admitted(admission, alice, stream, {2}, start + 10s).empty());
  CHECK(admitted(admission, alice, stream, {2}, start + 11s) == Positions{2});
  CHECK(admission.ledger().contested == 2);
}

TEST_CASE("peers_of_the_same_name_on_two_links_are_two_peers") {
  FrameAdmission admission({.refuse_contested = true});
  admitted(admission, {0, "udp 127.0.0.1:9"}, stream, {0});
  CHECK(admitted(admission, {1, "udp 127.0.0.1:9"}, stream, {1}).empty());
}

TEST_CASE("nothing_is_let_in_of_a_stream_that_does_not_come_from_peers") {
  FrameAdmission admission;
  CHECK(admission.keep_out(stream));
  CHECK(admitted(admission, alice, stream, {0, 1}).empty());
  CHECK(admission.ledger().returned == 2);
  CHECK(admission.sender_of(stream) == nullptr);
  // One that came from a peer stays that peer's.
  const StreamId other{"other", {1}};
  admitted(admission, alice, other, {0});
  CHECK(!admission.keep_out(other));
  CHECK(admitted(admission, alice, other, {1}) == Positions{1});
}

TEST_CASE("streams_without_number_take_a_bounded_number_of_places") {
  FrameAdmission admission({.claim_silence = 10s, .streams_max = 3});
  for (std::uint64_t life = 1; life <= 3; ++life)
    CHECK(admitted(admission, alice, {"node", {life}}, {0}, start + std::chrono::seconds(life)) ==
          Positions{0});
  CHECK(admitted(admission, alice, {"node", {4}}, {0, 1}, start + 5s).empty());
  CHECK(admission.ledger().too_many_streams == 2);
  // The one that was silent for ten seconds is forgotten, the others are not.
  CHECK(admitted(admission, alice, {"node", {4}}, {0}, start + 11s) == Positions{0});
  CHECK(admission.sender_of({"node", {1}}) == nullptr);
  CHECK(admitted(admission, alice, {"node", {2}}, {0}, start + 11s).empty());
}

TEST_CASE("names_of_streams_take_a_bounded_number_of_bytes") {
  FrameAdmission admission({.claim_silence = 10s, .names_bytes_max = 1000});
  const auto named = [](std::size_t bytes, std::uint64_t life) {
    return StreamId{std::string(bytes, 'x'), {life}};
  };
  CHECK(admitted(admission, alice, named(600, 1), {0}) == Positions{0});
  CHECK(admitted(admission, alice, named(400, 2), {0}, start + 5s) == Positions{0});
  CHECK(admitted(admission, alice, named(1, 3), {0, 1}, start + 5s).empty());
  CHECK(admission.ledger().too_many_streams == 2);
  CHECK(admitted(admission, alice, named(600, 1), {1}, start + 5s) == Positions{1}); // is known
  CHECK(admitted(admission, alice, named(0, 4), {0}, start + 5s) == Positions{0});
  // When the first two were silent for long enough, their bytes are free, and no more.
  CHECK(admitted(admission, alice, named(1001, 5), {0}, start + 15s).empty());
  CHECK(admitted(admission, alice, named(1000, 6), {0}, start + 15s) == Positions{0});
  CHECK(admitted(admission, alice, named(1, 7), {0}, start + 15s).empty());
}

TEST_CASE("a_claim_of_a_peer_that_left_and_came_back_is_a_new_one") {
  FrameAdmission admission({.refuse_contested = true});
  const StreamId other{"other", {1}};
  admitted(admission, alice, stream, {0});
  admitted(admission, alice, other, {0});
  admission.peer_left(alice);
  CHECK(*admission.sender_of(stream) == alice); // was the last one
  CHECK(admitted(admission, alice, stream, {1}) == Positions{1});
  CHECK(admitted(admission, bob, stream, {2}).empty());
  CHECK(admitted(admission, bob, other, {1}) == Positions{1});
  admission.peer_left(alice);
  CHECK(admitted(admission, alice, other, {2}).empty());
  CHECK(admitted(admission, bob, stream, {2}) == Positions{2});
}

TEST_CASE("claims_that_come_and_go_are_those_of_a_simple_model") {
  CHECK(rc::check([] {
    FrameAdmission admission(
        {.refuse_contested = true, .claim_silence = 3s, .streams_max = 4, .names_bytes_max = 6});
    struct Known {
      std::string peer;
      bool left = false;
      FrameAdmission::Time last;
    };
    std::map<std::string, Known> known;
    FrameAdmission::Time now = start;
    std::uint64_t next = 0;
    const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
        rc::gen::tuple(rc::gen::inRange(0, 5), rc::gen::inRange(0, 6), rc::gen::inRange(0, 4)));
    for (const auto& [peer_number, stream_number, what] : steps) {
      const std::string peer(1, static_cast<char>('a' + peer_number));
      const std::string node(static_cast<std::size_t>(stream_number) / 2, 'n');
      const StreamId id{node, {static_cast<std::uint64_t>(stream_number)}};
      const std::string key = node + std::to_string(stream_number);
      if (what == 0)
        now += 1s;
      if (what == 1) {
        admission.peer_left({0, peer});
        for (auto& [of, stream_known] : known)
          stream_known.left |= stream_known.peer == peer;
        continue;
      }
      const auto has_room = [&] {
        std::size_t bytes = node.size();
        for (const auto& [of, unused] : known)
          bytes += of.size() - 1;
        return known.size() < 4 && bytes <= 6;
      };
      if (!known.contains(key) && !has_room())
        std::erase_if(known, [&](const auto& entry) { return now - entry.second.last >= 3s; });
      bool expected = false;
      if (known.contains(key)) {
        const Known& at = known[key];
        expected = at.left || at.peer == peer || now - at.last >= 3s;
      } else {
        expected = has_room();
      }
      if (expected)
        known[key] = {peer, false, now};
      const Frame frame[] = {{{1}, {next++}, "x"}};
      RC_ASSERT(admission.admit({0, peer}, FrameBatch::copy_of(id, frame), now).size() ==
                (expected ? 1U : 0U));
      RC_ASSERT(admission.ledger().balanced());
    }
  }));
}

TEST_CASE("a_position_set_holds_exactly_what_was_inserted_while_its_runs_suffice") {
  CHECK(rc::check([] {
    PositionSet set(1000);
    std::set<std::uint64_t> expected;
    for (const std::uint64_t offset :
         *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 60))) {
      // Around zero, where it wraps: the lowest and the highest positions.
      const std::uint64_t position = offset - 30;
      RC_ASSERT(set.insert({position}) == expected.insert(position).second);
    }
  }));
}

TEST_CASE("a_position_set_whose_runs_do_not_suffice_never_takes_a_seen_position_for_new") {
  CHECK(rc::check([] {
    PositionSet set(*rc::gen::inRange<std::size_t>(1, 5));
    std::set<std::uint64_t> seen;
    for (const std::uint64_t position :
         *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 60)))
      if (!seen.insert(position).second)
        RC_ASSERT(!set.insert({position}));
      else
        set.insert({position});
  }));
}

TEST_CASE("runs_of_positions_that_meet_take_the_room_of_one") {
  PositionSet set(3);
  for (const std::uint64_t position : {0, 10, 12, 11, 20}) // three runs
    CHECK(set.insert({position}));
  CHECK(set.insert({5})); // between the lowest two, which are still apart
}

TEST_CASE("positions_with_gaps_cost_no_move_of_all_runs_once_a_set_is_full") {
  using Clock = std::chrono::steady_clock;
  // The best of some rounds, of sets whose sizes are far apart.
  const auto cost = [](std::size_t runs_max) {
    auto best = Clock::duration::max();
    PositionSet set(runs_max);
    std::uint64_t position = 0;
    for (std::size_t i = 0; i <= runs_max; ++i)
      set.insert({position += 2});
    for (int round = 0; round < 5; ++round) {
      const auto begin = Clock::now();
      for (int i = 0; i < 2000; ++i)
        set.insert({position += 2});
      best = std::min(best, Clock::now() - begin);
    }
    return best;
  };
  CHECK(cost(1U << 16U) < 20 * cost(1U << 4U)); // a move of all of them is a megabyte
}

TEST_CASE("a_forged_position_at_the_end_of_the_range_does_not_stop_a_stream") {
  FrameAdmission admission;
  CHECK(admitted(admission, alice, stream, {0, ~0ULL}) == Positions{0, ~0ULL});
  for (std::uint64_t position = 1; position < 10'000; ++position)
    CHECK(admitted(admission, alice, stream, {position}) == Positions{position});
}
