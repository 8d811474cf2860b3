#include "actor_test.hpp"
#include "shortage.hpp"
#include "under_tsan.hpp"

#include <datastream/caf/send.hpp>
#include <datastream/hooks_caf/actor_observer.hpp>
#include <datastream/hooks_caf/spawn_observed.hpp>

#include <caf/stateful_actor.hpp>

// clang-format off
#include DATASTREAM_CAF_HEADER(typed_worker)
// clang-format on

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <latch>
#include <map>
#include <memory>
#include <optional>
#include <thread>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// Keeps what it is told.
class Recorder final : public StatsHook {
public:
  struct Report {
    std::size_t worker;
    std::vector<ActorSnapshot> actors;
    std::size_t omitted;
  };

  void on_tick(std::size_t worker, std::span<const ActorSnapshot> actors,
               std::size_t omitted) override {
    const std::lock_guard lock(mutex_);
    reports_.push_back({worker, {actors.begin(), actors.end()}, omitted});
  }
  std::vector<Report> reports() const {
    const std::lock_guard lock(mutex_);
    return reports_;
  }
  std::size_t size() const { return reports().size(); }
  /// The last that was said of an actor.
  std::optional<ActorSnapshot> latest(const caf::actor& actor) const {
    return latest(std::to_string(actor.id()));
  }
  std::optional<ActorSnapshot> latest(const std::string& address) const {
    std::optional<ActorSnapshot> found;
    for (const Report& report : reports())
      for (const ActorSnapshot& snapshot : report.actors)
        if (snapshot.address == address)
          found = snapshot;
    return found;
  }
  /// How often an actor was reported.
  std::size_t count(const std::string& address) const {
    std::size_t found = 0;
    for (const Report& report : reports())
      found += static_cast<std::size_t>(
          std::ranges::count(report.actors, address, &ActorSnapshot::address));
    return found;
  }

  /// How often it was reported as poisoned.
  std::size_t count_poisoned(const std::string& address) const {
    std::size_t found = 0;
    for (const Report& report : reports())
      for (const ActorSnapshot& snapshot : report.actors)
        found += snapshot.address == address && snapshot.poisoned ? 1U : 0U;
    return found;
  }

private:
  mutable std::mutex mutex_;
  std::vector<Report> reports_;
};

constexpr auto interval = 20ms;

struct ObservedConfig : Config {
  ActorObserver observer;
  explicit ObservedConfig(ObserveOptions options = {}, bool everywhere = false)
      : observer((options.interval = interval, std::move(options))) {
    if (everywhere)
      observer.install_everywhere(*this);
    else
      observer.install(*this);
  }
};

struct ObservedSystem {
  explicit ObservedSystem(ObserveOptions options = {}, bool everywhere = false)
      : config(std::move(options), everywhere) {
    config.observer.report_to(recorder);
  }
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  ObservedConfig config;
  caf::actor_system system{config};
};

class Worker : public caf::event_based_actor {
public:
  explicit Worker(caf::actor_config& config) : caf::event_based_actor(config) {}
  const char* name() const override { return "worker"; }
  caf::behavior make_behavior() override {
    return {
        [](int value) { return value; },
        [](const std::string&) {},
        [](float) { throw std::runtime_error("no floats"); },
    };
  }
};

caf::behavior function_worker(caf::event_based_actor*) {
  return {[](int) {}, [](const std::string&) {}};
}

struct NamedState {
  static inline const char* name = "named";
  int sum = 0;
};
caf::behavior stateful_worker(caf::stateful_actor<NamedState>*) {
  return {[](int) {}, [](const std::string&) {}};
}

TypedWorker::behavior_type typed_worker(TypedWorker::pointer) {
  return {[](int) {}};
}

/// CAF 1.x calls this deprecated and has nothing instead.
void skip_others(caf::event_based_actor* self) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  self->set_default_handler(caf::skip);
#pragma GCC diagnostic pop
}

std::uint64_t counted(const ActorSnapshot& snapshot) {
  std::uint64_t sum = 0;
  for (const MessageTypeCount& type : snapshot.message_type_counts)
    sum += type.count;
  return sum;
}

} // namespace

TEST_CASE("every_message_of_an_observed_actor_is_counted_by_its_type") {
  ObservedSystem test;
  const std::vector<caf::actor> actors{
      spawn_observed<Worker>(test.system),
      spawn_observed<Worker, caf::detached>(test.system),
      spawn_observed(test.system, function_worker),
      spawn_observed<caf::detached>(test.system, function_worker),
      spawn_observed(test.system, stateful_worker),
  };
  for (int i = 0; i < 1000; ++i)
    for (const caf::actor& actor : actors) {
      compat::anon_send(actor, i);
      if (i % 4 == 0)
        compat::anon_send(actor, std::string("text"));
    }
  for (const caf::actor& actor : actors) {
    REQUIRE(eventually([&] {
      const auto now = test.recorder->latest(actor);
      return now && now->messages_processed == 1250;
    }));
    const ActorSnapshot now = *test.recorder->latest(actor);
    CHECK(now.exact);
    CHECK(now.mailbox_depth == 0);
    CHECK_FALSE(now.poisoned);
    CHECK(counted(now) == 1250);
    REQUIRE(now.message_type_counts.size() == 2);
    CHECK(now.message_type_counts[0].count == 1000);
    CHECK(now.message_type_counts[1].count == 250);
    CHECK(now.message_type_counts[0].ty != now.message_type_counts[1].ty);
    CHECK(now.last_msg_type == now.message_type_counts[0].ty);
  }
  CHECK(test.recorder->latest(actors[0])->name == "worker");
  CHECK(test.recorder->latest(actors[4])->name == "named");
  for (const caf::actor& actor : actors)
    stop(actor);
}

#if !DATASTREAM_UNDER_TSAN
TEST_CASE("an_actor_that_cannot_be_observed_for_want_of_memory_goes_on_and_is_observed_later") {
  ObservedSystem test;
  std::atomic<bool> dry = false;
  std::latch both_sent{1};
  const auto actor =
      spawn_observed<caf::detached>(test.system, [&](caf::event_based_actor*) -> caf::behavior {
        const auto drought = std::make_shared<std::optional<Drought>>();
        return {[&, drought](int) {
                  both_sent.wait();
                  drought->emplace(dry);
                  dry = true; // from here on this thread finds no memory
                },
                [&, drought](const std::string&) { // a type that is new
                  dry = false;
                  drought->reset();
                }};
      });
  compat::anon_send(actor, 1);
  compat::anon_send(actor, std::string("text"));
  both_sent.count_down();
  REQUIRE(eventually([&] {
    const auto now = test.recorder->latest(actor);
    return now && now->messages_processed == 2;
  }));
  const ActorSnapshot now = *test.recorder->latest(actor);
  CHECK(counted(now) == 2);
  REQUIRE(now.message_type_counts.size() == 2);
  CHECK(now.message_type_counts[1] == MessageTypeCount{"others", 1});
  compat::anon_send(actor, std::string("text"));
  CHECK(eventually([&] {
    const auto later = test.recorder->latest(actor);
    return later && later->message_type_counts.size() == 3;
  }));
  stop(actor);
}
#endif

TEST_CASE("a_typed_actor_is_observed_like_any_other") {
  ObservedSystem test;
  const TypedWorker actor = spawn_observed(test.system, typed_worker);
  for (int i = 0; i < 10; ++i)
    compat::anon_send(actor, i);
  const std::string address = std::to_string(actor.id());
  CHECK(eventually([&] {
    const auto now = test.recorder->latest(address);
    return now && now->messages_processed == 10 && now->message_type_counts.size() == 1;
  }));
  stop(caf::actor_cast<caf::actor>(actor));
}

TEST_CASE("requests_and_their_answers_are_counted_too") {
  ObservedSystem test;
  const auto actor = spawn_observed<Worker>(test.system);
  for (int i = 0; i < 10; ++i)
    CHECK(ask<int>(test.system, actor, i) == i);
  CHECK(eventually([&] {
    const auto now = test.recorder->latest(actor);
    return now && now->messages_processed == 10;
  }));
  stop(actor);
}

TEST_CASE("an_actor_that_died_of_an_exception_is_in_exactly_one_more_report_with_its_reason") {
  ObservedSystem test;
  for (const bool idle_before : {false, true}) {
    auto actor = spawn_observed<Worker>(test.system);
    const std::string address = std::to_string(actor.id());
    compat::anon_send(actor, 1);
    if (idle_before)
      REQUIRE(eventually([&] { return test.recorder->count(address) == 1; }));
    compat::anon_send(actor, 1.0F);
    actor = nullptr;
    REQUIRE(eventually([&] {
      const auto now = test.recorder->latest(address);
      return now && now->poisoned;
    }));
    const ActorSnapshot now = *test.recorder->latest(address);
    REQUIRE(now.reason);
    CHECK_FALSE(now.reason->empty());
    CHECK(now.messages_processed == 2);
    const std::size_t reports = test.recorder->count(address);
    CHECK(test.recorder->count_poisoned(address) == 1);
    // Others go on, and it is not mentioned again.
    const auto other = spawn_observed<Worker>(test.system);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      compat::anon_send(other, 1);
      REQUIRE(eventually([&] {
        const auto seen = test.recorder->latest(other);
        return seen && seen->messages_processed == i;
      }));
    }
    CHECK(test.recorder->count(address) == reports);
    stop(other);
  }
}

TEST_CASE("an_actor_that_ends_well_is_not_poisoned") {
  ObservedSystem test;
  for (const auto reason : {caf::exit_reason::normal, caf::exit_reason::user_shutdown}) {
    const auto actor = spawn_observed<Worker>(test.system);
    compat::anon_send(actor, 1);
    REQUIRE(eventually([&] { return test.recorder->latest(actor).has_value(); }));
    const auto before = test.recorder->count(std::to_string(actor.id()));
    caf::anon_send_exit(actor, reason);
    // Its last report, if there is one, comes before that of somebody who ran later.
    const auto other = spawn_observed<Worker>(test.system);
    compat::anon_send(other, 1);
    REQUIRE(eventually([&] { return test.recorder->latest(other).has_value(); }));
    CHECK_FALSE(test.recorder->latest(actor)->poisoned);
    CHECK(test.recorder->count(std::to_string(actor.id())) <= before + 1);
    stop(other);
  }
}

TEST_CASE("an_idle_program_reports_nothing_and_our_own_actors_are_nobody_s_business") {
  ObservedSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, node.ref(), seen); // a user's, but not observed
  const auto actor = spawn_observed<Worker>(test.system);
  compat::anon_send(actor, 1);
  REQUIRE(eventually([&] { return test.recorder->latest(actor).has_value(); }));
  stop(reader);
  std::size_t before = 0;
  REQUIRE(eventually([&] { // what was under way has been reported when nothing more comes
    before = test.recorder->size();
    std::this_thread::sleep_for(3 * interval);
    return test.recorder->size() == before;
  }));
  auto tail = node.subscribe("tail");
  for (int i = 0; i < 20; ++i) {
    node.producer().submit_text(ChannelId{1}, "x");
    REQUIRE(tail.recv_for(10s));
    std::this_thread::sleep_for(interval / 4); // passes several intervals
  }
  for (const Recorder::Report& report : test.recorder->reports())
    for (const ActorSnapshot& snapshot : report.actors)
      CHECK_FALSE(snapshot.name.starts_with("datastream"));
  CHECK(test.recorder->size() == before);
  stop(actor);
}

TEST_CASE("actors_are_included_and_excluded_by_name") {
  ObserveOptions options;
  options.include = {"work*", "named"};
  options.exclude = {"named"};
  CHECK(options.observes("worker"));
  CHECK_FALSE(options.observes("named"));
  CHECK_FALSE(options.observes("other"));
  CHECK_FALSE(ObserveOptions().observes("datastream.endpoint"));
  ObservedSystem test(options);
  const auto worker = spawn_observed<Worker>(test.system);
  const auto named = spawn_observed(test.system, stateful_worker);
  for (const caf::actor& actor : {named, worker})
    compat::anon_send(actor, 1);
  REQUIRE(eventually([&] { return test.recorder->latest(worker).has_value(); }));
  CHECK_FALSE(test.recorder->latest(named));
  stop(worker);
  stop(named);
}

TEST_CASE("beyond_the_bound_the_busiest_are_reported_and_the_others_counted") {
  ObserveOptions options;
  options.actors_max = 3;
  ObservedSystem test(options);
  test.config.observer.report_to(nullptr);
  std::vector<caf::actor> actors;
  for (int i = 0; i < 20; ++i)
    actors.push_back(spawn_observed<Worker>(test.system));
  test.config.observer.report_to(test.recorder);
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j <= i; ++j)
      compat::anon_send(actors[static_cast<std::size_t>(i)], j);
  REQUIRE(eventually([&] {
    std::size_t actors_seen = 0;
    for (const Recorder::Report& report : test.recorder->reports())
      actors_seen += report.actors.size() + report.omitted;
    return actors_seen >= 20;
  }));
  std::size_t omitted = 0;
  for (const Recorder::Report& report : test.recorder->reports()) {
    CHECK(report.actors.size() <= 3);
    omitted += report.omitted;
  }
  CHECK(omitted > 0);
  for (const caf::actor& actor : actors)
    stop(actor);
}

TEST_CASE("a_message_that_is_skipped_waits_and_counts_once_when_it_is_handled") {
  ObservedSystem test;
  const auto actor = spawn_observed(test.system, [](caf::event_based_actor* self) -> caf::behavior {
    skip_others(self);
    return {[self](float) { self->become([](int) {}, [](float) {}); }};
  });
  for (int i = 0; i < 50; ++i)
    compat::anon_send(actor, i);
  REQUIRE(eventually([&] {
    const auto now = test.recorder->latest(actor);
    return now && now->mailbox_depth == 50;
  }));
  const ActorSnapshot waiting = *test.recorder->latest(actor);
  CHECK(waiting.exact);
  CHECK(waiting.messages_processed == 0);
  CHECK(waiting.message_type_counts.empty());
  CHECK_FALSE(waiting.last_msg_type);
  compat::anon_send(actor, std::string("nobody ever wants this"));
  compat::anon_send(actor, 1.0F);
  REQUIRE(eventually([&] {
    const auto now = test.recorder->latest(actor);
    return now && now->messages_processed == 51;
  }));
  const ActorSnapshot now = *test.recorder->latest(actor);
  CHECK(now.mailbox_depth == 1); // the text
  REQUIRE(now.message_type_counts.size() == 2);
  CHECK(now.message_type_counts[0].count == 50);
  CHECK(now.message_type_counts[1].count == 1);
  CHECK(now.last_msg_type == now.message_type_counts[0].ty);
  stop(actor);
}

TEST_CASE("what_comes_while_a_response_is_awaited_waits_and_counts_once") {
  ObservedSystem test;
  const auto open = std::make_shared<std::latch>(1);
  const auto slow = test.system.spawn<caf::detached>([open]() -> caf::behavior {
    return {[open](double value) {
      open->wait();
      return value;
    }};
  });
  const auto actor =
      spawn_observed(test.system, [slow](caf::event_based_actor* self) -> caf::behavior {
        return {[=](float) {
                  for (int i = 0; i < 3; ++i)
                    compat::request(self, slow, caf::infinite, 1.0 * i).await([](double) {});
                },
                [](int) {}};
      });
  compat::anon_send(actor, 1.0F);
  for (int i = 0; i < 100; ++i)
    compat::anon_send(actor, i);
  REQUIRE(eventually([&] {
    const auto now = test.recorder->latest(actor);
    return now && now->mailbox_depth == 100 && now->messages_processed == 1;
  }));
  open->count_down();
  REQUIRE(eventually([&] {
    const auto now = test.recorder->latest(actor);
    return now && now->messages_processed >= 104 && now->mailbox_depth == 0;
  }));
  const ActorSnapshot now = *test.recorder->latest(actor);
  CHECK(now.messages_processed == 104); // with the three responses
  CHECK(counted(now) == 104);
  stop(actor);
  stop(slow);
}

TEST_CASE("messages_that_wait_are_the_mailbox_s_depth") {
  ObservedSystem test;
  auto entered = std::make_shared<std::latch>(1);
  auto open = std::make_shared<std::latch>(1);
  const auto actor =
      spawn_observed<caf::detached>(test.system, [=](caf::event_based_actor*) -> caf::behavior {
        return {[=](int value) {
          if (value == 0) {
            entered->count_down();
            open->wait();
          }
        }};
      });
  compat::anon_send(actor, 1); // it has run, so it is in a report
  compat::anon_send(actor, 0);
  for (int i = 1; i <= 7; ++i)
    compat::anon_send(actor, i);
  entered->wait();
  REQUIRE(eventually([&] {
    const auto now = test.recorder->latest(actor);
    return now && now->messages_processed == 1;
  }));
  CHECK(test.recorder->latest(actor)->mailbox_depth == 8); // with the one that it works on
  open->count_down();
  CHECK(eventually([&] { return test.recorder->latest(actor)->mailbox_depth == 0; }));
  stop(actor);
}

TEST_CASE("reports_may_be_redirected_and_switched_off") {
  ObservedSystem test;
  const auto actor = spawn_observed<Worker>(test.system);
  const auto second = std::make_shared<Recorder>();
  test.config.observer.report_to(second);
  compat::anon_send(actor, 1);
  REQUIRE(eventually([&] { return second->latest(actor).has_value(); }));
  CHECK_FALSE(test.recorder->latest(actor));
  test.config.observer.report_to(nullptr);
  const std::size_t before = second->size();
  compat::anon_send(actor, 1);
  test.config.observer.report_to(test.recorder);
  compat::anon_send(actor, 1);
  REQUIRE(eventually([&] {
    const auto now = test.recorder->latest(actor);
    return now && now->messages_processed == 3; // it counted on meanwhile
  }));
  CHECK(second->size() == before);
  stop(actor);
}

TEST_CASE("reports_may_be_redirected_by_several_threads_at_once") {
  ObservedSystem test;
  const auto actor = spawn_observed<Worker>(test.system);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, off = i % 2 == 0] {
      for (int round = 0; round < 50; ++round) {
        test.config.observer.report_to(off ? nullptr : test.recorder);
        compat::anon_send(actor, round);
      }
    });
  threads.clear();
  test.config.observer.report_to(test.recorder);
  compat::anon_send(actor, 1);
  CHECK(eventually([&] {
    const auto now = test.recorder->latest(actor);
    return now && now->messages_processed == 201;
  }));
  test.config.observer.report_to(nullptr);
  stop(actor);
}

TEST_CASE("any_interval_is_brought_into_its_range") {
  for (const auto given :
       {0ms, std::chrono::milliseconds::min(), std::chrono::milliseconds::max()}) {
    struct OddConfig : Config {
      ActorObserver observer;
      explicit OddConfig(std::chrono::milliseconds every) : observer({.interval = every}) {
        observer.install(*this);
      }
    };
    const auto recorder = std::make_shared<Recorder>();
    OddConfig config(given);
    config.observer.report_to(recorder);
    caf::actor_system system{config};
    const auto actor = spawn_observed<Worker>(system);
    CHECK(ask<int>(system, actor, 1) == 1);
    if (given <= 0ms)
      CHECK(eventually([&] { return recorder->latest(actor).has_value(); }));
    else
      CHECK(recorder->size() == 0); // a day has not passed
    stop(actor);
  }
}

TEST_CASE("a_whole_program_is_observed_as_far_as_its_caf_allows") {
  ObservedSystem test({}, true);
  const auto plain = test.system.spawn<Worker>();
  const auto counted_itself = spawn_observed<Worker>(test.system);
  for (int i = 0; i < 100; ++i)
    for (const caf::actor& actor : {plain, counted_itself})
      compat::anon_send(actor, i);
  REQUIRE(eventually([&] {
    const auto now = test.recorder->latest(plain);
    return now && (now->exact ? now->messages_processed == 100 : now->resumes > 0U);
  }));
  REQUIRE(eventually([&] {
    const auto now = test.recorder->latest(counted_itself);
    return now && now->messages_processed == 100;
  }));
  CHECK(test.recorder->latest(counted_itself)->exact); // once, not a second time inexactly
  CHECK(test.recorder->latest(plain)->name == "worker");
  const std::string address = std::to_string(plain.id());
  compat::anon_send(plain, 1.0F);
  CHECK(eventually([&] { return test.recorder->latest(address)->poisoned; }));
  stop(plain);
  stop(counted_itself);
}

TEST_CASE("ten_thousand_short_lived_actors_leave_nothing_behind") {
  ObservedSystem test({}, true);
  for (int i = 0; i < 10'000; ++i) {
    const auto actor =
        spawn_observed(test.system, [](caf::event_based_actor* self) -> caf::behavior {
          return {[self](int) { self->quit(); }};
        });
    compat::anon_send(actor, i);
  }
  test.system.await_all_actors_done();
  const auto last = spawn_observed<Worker>(test.system);
  REQUIRE(eventually([&] { // the crowd may leave no room for it in the first reports
    compat::anon_send(last, 1);
    return test.recorder->latest(last).has_value();
  }));
  stop(last);
}

TEST_CASE("every_actor_that_died_is_reported_once_however_many_die_at_once") {
  ObserveOptions options;
  options.actors_max = 4;
  ObservedSystem test(options);
  std::vector<std::string> addresses;
  for (int i = 0; i < 50; ++i) {
    const auto actor = spawn_observed<Worker>(test.system);
    addresses.push_back(std::to_string(actor.id()));
    compat::anon_send(actor, 1.0F);
  }
  const auto told = [&](const std::string& address) {
    const auto now = test.recorder->latest(address);
    return now && now->poisoned;
  };
  REQUIRE(eventually([&] { return std::ranges::all_of(addresses, told); }));
  for (const std::string& address : addresses)
    CHECK(test.recorder->count_poisoned(address) == 1);
}
