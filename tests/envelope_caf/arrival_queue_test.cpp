/// What waits between the receivers of a bridge and its actor.

#include "../../legacy_envelope/envelope_caf/src/arrival_queue.hpp"

#include <eventually.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

const PeerName peer{0, "tcp 127.0.0.1:4711"};
constexpr std::size_t room = 100'000;

FrameBatch batch_of(const StreamId& stream, std::size_t frames, const std::string& payload) {
  return FrameBatch::copy_of(stream, std::vector<Frame>(frames, {{1}, {0}, payload}));
}

/// A thread that pushes the same again and again, until the queue is closed; and how much was
/// taken in. It is closed in the end.
class Flood {
public:
  Flood(
      ArrivalQueue& queue, Arrival arrival, std::function<void()> wake = [] {})
      : queue_(queue), thread_([this, arrival = std::move(arrival), wake = std::move(wake)] {
          while (queue_.push(arrival, wake))
            ++pushed_;
        }) {}
  ~Flood() {
    queue_.close();
    thread_.join();
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  std::size_t pushed() const { return pushed_; }
  /// Whether it comes as far as this, and no further.
  bool stops_at(std::size_t count) const {
    return eventually([&] { return pushed() >= count; }) &&
           !eventually([&] { return pushed() > count; }, std::chrono::milliseconds(50));
  }

private:
  ArrivalQueue& queue_;
  std::atomic<std::size_t> pushed_{0};
  std::thread thread_;
};

} // namespace

TEST_CASE("arrivals_without_payloads_fill_a_queue_by_the_memory_that_they_take") {
  ArrivalQueue queue(room);
  const Arrival arrival{peer, batch_of({"n", {1}}, 100, "")};
  CHECK(arrival.memory() >= 100 * sizeof(FrameHeader) + sizeof(Arrival));
  const Flood flood(queue, arrival);
  CHECK(flood.stops_at(room / arrival.memory()));
  CHECK(queue.counts().waiting == 100 * flood.pushed());
}

TEST_CASE("peers_that_come_and_leave_fill_a_queue_too") {
  ArrivalQueue queue(room);
  const Flood flood(queue, {peer});
  CHECK(flood.stops_at(room / Arrival{peer}.memory()));
  CHECK(flood.pushed() < 100);
}

TEST_CASE("long_names_of_streams_fill_a_queue_too") {
  ArrivalQueue queue(room);
  const Flood flood(queue, {peer, batch_of({std::string(30'000, 'n'), {1}}, 1, "")});
  CHECK(flood.stops_at(3));
}

TEST_CASE("what_was_taken_counts_until_the_next_look") {
  ArrivalQueue queue(room);
  const Arrival arrival{peer, batch_of({"n", {1}}, 1, std::string(20'000, 'x'))};
  const Flood flood(queue, arrival);
  REQUIRE(flood.stops_at(4));
  CHECK(queue.take().size() == 4);
  CHECK(flood.stops_at(4));
  CHECK(queue.take().empty()); // what was taken has been passed on
  CHECK(flood.stops_at(8));
}

TEST_CASE("an_arrival_that_is_larger_than_all_the_room_passes_alone") {
  ArrivalQueue queue(room);
  const Flood flood(queue, {peer, batch_of({"n", {1}}, 1, std::string(2 * room, 'x'))});
  for (std::size_t round = 1; round < 5; ++round) {
    REQUIRE(eventually([&] { return queue.counts().waiting == 1; }));
    CHECK(flood.pushed() <= round);
    CHECK(queue.take().size() == 1);
    CHECK(queue.take().empty());
  }
}

TEST_CASE("an_actor_that_could_not_be_woken_is_woken_by_the_next_who_comes") {
  ArrivalQueue queue(room);
  int woken = 0;
  bool no_memory = true;
  const auto wake = [&] {
    if (no_memory)
      throw std::bad_alloc();
    ++woken;
  };
  CHECK(queue.push({peer}, wake)); // is queued all the same
  CHECK(queue.push({peer}, wake));
  no_memory = false;
  CHECK(queue.push({peer}, wake));
  CHECK(queue.push({peer}, wake)); // has been told
  CHECK(woken == 1);
  CHECK(queue.take().size() == 4);
  CHECK(queue.push({peer}, wake)); // looks again when it has passed on what it took
  CHECK(woken == 1);
  CHECK(queue.take().size() == 1);
  CHECK(queue.take().empty());
  CHECK(queue.push({peer}, wake));
  CHECK(woken == 2);
}

TEST_CASE("who_waits_for_room_wakes_an_actor_that_could_not_be_woken") {
  ArrivalQueue queue(room);
  std::atomic<bool> no_memory{true};
  std::atomic<int> woken{0};
  const Flood flood(queue, {peer, batch_of({"n", {1}}, 1, std::string(room, 'x'))}, [&] {
    if (no_memory)
      throw std::bad_alloc();
    ++woken;
  });
  REQUIRE(flood.stops_at(1));
  no_memory = false;
  CHECK(eventually([&] { return woken == 1; }));
}

TEST_CASE("who_waits_already_when_an_actor_could_not_be_woken_wakes_it") {
  ArrivalQueue queue(room);
  std::latch wakes{1};
  std::latch fails{1};
  std::thread first([&] {
    queue.push({peer}, [&] {
      wakes.count_down();
      fails.wait();
      throw std::bad_alloc();
    });
  });
  wakes.wait();
  std::atomic<int> woken{0};
  {
    const Flood flood(queue, {peer, batch_of({"n", {1}}, 1, std::string(room, 'x'))},
                      [&] { ++woken; });
    CHECK(flood.stops_at(0)); // it waits for room, and another one is to wake the actor
    fails.count_down();
    first.join();
    CHECK(eventually([&] { return woken == 1; }));
  }
}

TEST_CASE("a_queue_that_is_closed_takes_nothing_and_has_counted_what_it_discards") {
  ArrivalQueue queue(room);
  CHECK(queue.push({peer, batch_of({"n", {1}}, 7, "x")}, [] {}));
  queue.close();
  queue.close();
  CHECK(!queue.push({peer, batch_of({"n", {1}}, 1, "x")}, [] {}));
  CHECK(queue.counts().waiting == 0);
  CHECK(queue.counts().discarded == 7);
}
