/// Row 16: two actors that answer each other, observed against unobserved, on one worker. Elapsed
/// time, in nanoseconds a message.

#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/placement.hpp"
#include "harness/require.hpp"
#include "harness/table.hpp"

#include <datastream/caf/load.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/settings.hpp>
#include <datastream/caf/version.hpp>
#include <datastream/hooks/producer_stats_hook.hpp>
#include <datastream/hooks_caf/actor_observer.hpp>
#include <datastream/hooks_caf/spawn_observed.hpp>
#include <datastream/pipe/endpoint.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace bench;

/// Work for a handler.
using Work = void (*)();

void nothing() {}

void turn(std::uint64_t times) {
  volatile std::uint64_t value = 1;
  for (std::uint64_t i = 0; i < times; ++i)
    value = value * 6364136223846793005ULL + 1442695040888963407ULL;
}

/// How many turns take a microsecond here.
std::uint64_t turns_in_a_microsecond() {
  constexpr std::uint64_t many = 1'000'000;
  double least = 0;
  for (int round = 0; round < 5; ++round) {
    const Stopwatch watch{Clock::thread_cpu};
    turn(many);
    least = round == 0 ? watch.elapsed_ns() : std::min(least, watch.elapsed_ns());
  }
  return static_cast<std::uint64_t>(1000.0 * static_cast<double>(many) / least);
}

void a_microsecond() {
  static const std::uint64_t turns = turns_in_a_microsecond();
  turn(turns);
}

struct Config : caf::actor_system_config {
  Config() {
    datastream::compat::load<>(*this);
    datastream::compat::set(*this, "scheduler.max-threads", std::size_t{1});
  }
};

/// Counts down what it is sent, together with whoever sent it.
caf::behavior player(caf::event_based_actor* self, Work work, std::latch* done) {
  return {[=](std::uint64_t left, const caf::actor& partner) {
    work();
    if (left == 0)
      return done->count_down();
    datastream::compat::send(self, partner, left - 1, caf::actor(self));
  }};
}

double play(caf::actor_system& system, const caf::actor& one, const caf::actor& other,
            std::uint64_t messages, std::latch& done) {
  const Stopwatch watch{Clock::wall};
  datastream::compat::anon_send(one, messages, other);
  done.wait();
  const double cost = watch.elapsed_ns() / static_cast<double>(messages + 1);
  for (const caf::actor& each : {one, other})
    caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
  system.await_all_actors_done();
  return cost;
}

double unobserved(Work work, std::uint64_t messages) {
  Config config;
  caf::actor_system system{config};
  std::latch done{1};
  return play(system, system.spawn(player, work, &done), system.spawn(player, work, &done),
              messages, done);
}

/// Adds up what was reported as handled.
class Sum final : public datastream::StatsHook {
public:
  explicit Sum(datastream::DatastreamProducer out) : next_(std::move(out)) {}
  void on_tick(std::size_t worker, std::span<const datastream::ActorSnapshot> actors,
               std::size_t omitted) override {
    next_.on_tick(worker, actors, omitted);
    const std::lock_guard lock(mutex_);
    for (const auto& actor : actors)
      handled_[actor.address] = actor.messages_processed;
  }
  std::uint64_t handled() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [address, count] : handled_)
      sum += count;
    return sum;
  }

private:
  datastream::ProducerStatsHook next_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> handled_;
};

double observed(Work work, std::uint64_t messages) {
  datastream::DatastreamEndpoint node{datastream::StreamId{{"node"}, {1}}};
  const auto sum = std::make_shared<Sum>(node.producer());
  double cost = 0;
  Config config;
  datastream::ActorObserver observer;
  observer.install(config);
  observer.report_to(sum);
  {
    caf::actor_system system{config};
    std::latch done{1};
    cost = play(system, datastream::spawn_observed(system, player, work, &done),
                datastream::spawn_observed(system, player, work, &done), messages, done);
  }
  // The last report comes when the next interval has passed.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (bool all = false; !all && std::chrono::steady_clock::now() < deadline;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    all = sum->handled() >= messages + 1;
  }
  require(sum->handled() >= messages + 1, "every message is counted");
  return cost;
}

void measure(Table& table, std::string_view handler, Work work, std::uint64_t messages,
             double most) {
  const Confined confined{Placement::one_cpu};
  const std::array references{Side{"unobserved", [&] { return unobserved(work, messages); }}};
  const auto results =
      compare({"observed", [&] { return observed(work, messages); }}, references, table.rounds(11));
  table.line(fmt::format("observed actors, {} handler, one CPU", handler), results[0], 1 / most);
}

void observed_actor(Table& table) {
  measure(table, "trivial", nothing, table.frames(1'000'000),
          datastream::compat::caf_is_1x ? 1.10 : 1.15);
  measure(table, "1 us", a_microsecond, table.frames(200'000), 1.02);
}

const Row row{16, observed_actor};

} // namespace
