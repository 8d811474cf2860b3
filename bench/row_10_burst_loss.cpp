/// Row 10: copies lost when a million frames a second are offered in bursts of 64 to four
/// subscribers that hold 1,024 frames each. What is compared is the share lost, in percent.

#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/table.hpp"
#include "harness/threads.hpp"
#include "pipe_sides.hpp"

#include <fmt/format.h>

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t subscribers = 4;
constexpr std::size_t burst = 64;
constexpr std::chrono::microseconds burst_interval{64}; // 64 frames in 64 us: a million a second
constexpr std::chrono::microseconds back_off{20};

template <class Pipe>
double lost_percent(const PayloadSet& payloads, std::size_t frames) {
  Pipe pipe{subscribers};
  std::atomic<bool> done{false};
  std::uint64_t refused = 0;
  std::vector<Tally> tallies(subscribers);
  std::vector<Task> tasks;

  const auto precise_sleep = [] { ::prctl(PR_SET_TIMERSLACK, 1); };
  tasks.push_back({precise_sleep, [&] {
                     auto due = std::chrono::steady_clock::now();
                     for (std::size_t sent = 0; sent < frames; due += burst_interval) {
                       std::this_thread::sleep_until(due); // late bursts are made up for
                       for (const std::size_t end = std::min(frames, sent + burst); sent < end;
                            ++sent)
                         refused += !pipe.submit(payloads[sent]);
                     }
                     done = true;
                   }});
  tasks.push_back({precise_sleep, [&] {
                     while (!done)
                       if (pipe.tick() < burst)
                         std::this_thread::sleep_for(back_off);
                     pipe.end();
                   }});
  for (std::size_t i = 0; i < subscribers; ++i)
    tasks.push_back({[] {},
                     [&, i] {
                       while (pipe.recv(i, tallies[i])) {
                       }
                     }});
  run_together(tasks);

  std::uint64_t received = 0;
  for (const Tally& tally : tallies) {
    require(tally.bytes == tally.frames * payloads.size(), "what is received is whole");
    received += tally.frames;
  }
  const std::uint64_t lost = pipe.require_ledger(frames, refused) + refused * subscribers;
  require(received + lost == frames * subscribers, "every copy is received or counted as lost");
  // A run without loss counts as one lost copy, so that there is a ratio.
  return 100.0 * static_cast<double>(std::max<std::uint64_t>(lost, 1)) /
         static_cast<double>(frames * subscribers);
}

void burst_loss(Table& table) {
  const PayloadSet payloads{120};
  const std::size_t frames = table.frames(1'000'000);
  const std::array references{
      Side{"simple", [&] { return lost_percent<SimplePipe>(payloads, frames); }}};
  const auto results = compare({"ours", [&] { return lost_percent<OurPipe>(payloads, frames); }},
                               references, table.rounds());
  table.line("copies lost, %: 1 M frames/s in bursts of 64 to 4, 120 B", results.front(), 8.0);
}

const Row row{10, burst_loss};

} // namespace
