#include "observation.hpp"

#include <datastream/detail/signals_blocked.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <utility>

namespace datastream {

bool ObserveOptions::observes(std::string_view name) const {
  const auto matches = [name](std::string_view pattern) {
    if (pattern.ends_with('*'))
      return name.starts_with(pattern.substr(0, pattern.size() - 1));
    return name == pattern;
  };
  return std::ranges::any_of(include, matches) && std::ranges::none_of(exclude, matches);
}

namespace detail {

namespace {

ObserveOptions within_bounds(ObserveOptions options) {
  options.interval = std::clamp<std::chrono::milliseconds>(
      options.interval, std::chrono::milliseconds(1), std::chrono::days(1));
  return options;
}

} // namespace

Observation::Observation(ObserveOptions options) : options_(within_bounds(std::move(options))) {}

Observation::~Observation() {
  stop();
}

std::uint32_t Observation::ran(std::size_t worker, ActorStatsPtr actor) {
  const std::lock_guard lock(mutex_);
  if (reporting_) {
    auto& ran_here = ran_[worker];
    const bool first = ran_here.empty(); // also when the last one found no memory
    ran_here.push_back(std::move(actor));
    if (first)
      changed_.notify_all();
  }
  return epoch_.load(std::memory_order_relaxed);
}

const std::string* Observation::intern(std::uint64_t type, std::string name) {
  const std::lock_guard lock(mutex_);
  return &type_names_.try_emplace(type, std::move(name)).first->second;
}

void Observation::report_to(std::shared_ptr<StatsHook> hook) {
  if (!hook)
    return stop();
  const std::lock_guard change(change_mutex_);
  {
    const std::lock_guard lock(hook_mutex_);
    hook_.swap(hook); // the previous one goes when no lock is held
  }
  if (!reporter_.joinable())
    start();
}

void Observation::start() {
  const detail::SignalsBlocked blocked;
  reporter_ = std::jthread([this](const std::stop_token& stop) { report_until(stop); });
  const std::lock_guard lock(mutex_);
  reporting_ = true;
  epoch_.fetch_add(1, std::memory_order_relaxed); // whoever ran before notes it again
}

void Observation::stop() {
  std::shared_ptr<StatsHook> previous; // goes when no lock is held
  const std::lock_guard change(change_mutex_);
  {
    const std::lock_guard lock(hook_mutex_);
    hook_.swap(previous);
  }
  {
    const std::lock_guard lock(mutex_);
    reporting_ = false;
    ran_.clear();
  }
  reporter_ = {}; // asks it to end, and waits
}

void Observation::report_until(const std::stop_token& stop) {
  // An actor may have noted its last step just too late to be seen by the report that it is in. So
  // whoever was reported is looked at once more after the next interval.
  Ran before;
  while (!stop.stop_requested()) {
    Ran ran;
    {
      std::unique_lock lock(mutex_);
      if (before.empty())
        changed_.wait(lock, stop, [&] { return !ran_.empty(); });
      // A full interval, so that a report tells more than the first message of a burst.
      changed_.wait_for(lock, stop, options_.interval, [] { return false; });
      epoch_.fetch_add(1, std::memory_order_relaxed); // whoever runs from now on notes it anew
      ran = std::exchange(ran_, {});
    }
    ++reports_;
    for (const auto& [worker, actors] : ran)
      for (const ActorStatsPtr& actor : actors)
        actor->reported.report = reports_;
    try {
      for (const auto& [worker, actors] : before)
        for (const ActorStatsPtr& actor : actors)
          if (actor->reported.report != reports_ && actor->activity() != actor->reported.activity)
            ran[worker].push_back(actor);
      report(ran);
    } catch (const std::bad_alloc&) {
      // What was not told of these actors is told when they run again. Of one that has ended this
      // may be its end.
    }
    before = std::move(ran);
  }
}

void Observation::report(const Ran& ran) {
  for (const auto& [worker, actors] : ran)
    report(worker, actors);
}

void Observation::report(std::size_t worker, const std::vector<ActorStatsPtr>& actors) {
  struct Candidate {
    std::uint64_t weight;
    bool over;
    ActorStatsPtr actor;
    std::uint64_t told; // of its activity until now
  };
  std::vector<Candidate> candidates;
  candidates.reserve(actors.size());
  for (const ActorStatsPtr& actor : actors) {
    const bool over = actor->ended();
    if (over && std::exchange(actor->reported.end, true))
      continue; // its end was told
    const std::uint64_t activity = actor->activity();
    const std::uint64_t told = std::exchange(actor->reported.activity, activity);
    candidates.push_back(
        {over && actor->poisoned() ? ~std::uint64_t{0} : activity - told, over, actor, told});
  }
  if (candidates.empty())
    return;
  const std::size_t shown =
      std::min(candidates.size(), std::max<std::size_t>(options_.actors_max, 1));
  std::ranges::partial_sort(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(shown),
                            std::greater<>(), &Candidate::weight);
  std::vector<ActorSnapshot> snapshots;
  try {
    snapshots.reserve(shown);
    for (std::size_t i = 0; i < shown; ++i)
      snapshots.push_back(candidates[i].actor->snapshot(candidates[i].over));
    // Those that were poisoned come first, and are never left out: they do not run again. (Whoever
    // was poisoned since we looked has noted that itself, for the next report.)
    for (std::size_t i = shown; i < candidates.size(); ++i)
      if (candidates[i].over && candidates[i].actor->poisoned()) {
        candidates[i].actor->reported.end = false;
        ran(worker, candidates[i].actor);
      }
  } catch (const std::bad_alloc&) {
    for (const Candidate& candidate : candidates) { // an actor may be among them twice
      ActorStats::Reported& reported = candidate.actor->reported;
      reported.activity = std::min(reported.activity, candidate.told);
      reported.end = false;
    }
    throw;
  }
  const std::lock_guard lock(hook_mutex_);
  if (hook_)
    hook_->on_tick(worker, snapshots, candidates.size() - shown);
}

} // namespace detail
} // namespace datastream
