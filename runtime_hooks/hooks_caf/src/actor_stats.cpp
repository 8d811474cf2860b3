#include <datastream/hooks_caf/actor_stats.hpp>

#include "observation.hpp"
#include "worker.hpp"

#include <datastream/caf/render.hpp>

#include <caf/error.hpp>
#include <caf/exit_reason.hpp>
#include <caf/local_actor.hpp>

#include <algorithm>
#include <utility>

namespace datastream::detail {
namespace {

/// Why an actor that ended with this reason is poisoned; empty when it ended well.
std::string poison_of(const caf::actor_system& system, const caf::error& reason) {
  const bool well = !reason || reason == caf::make_error(caf::exit_reason::user_shutdown) ||
                    reason == caf::make_error(caf::exit_reason::unreachable);
  return well ? std::string() : compat::render(system, reason);
}

} // namespace

ActorStats::ActorStats(std::shared_ptr<Observation> observation, std::uint64_t id)
    : observation_(std::move(observation)), id_(id), epoch_(observation_->epoch()) {}

/// An actor has its final name when it runs for the first time.
void ActorStats::begin(const caf::local_actor& self) {
  name_ = self.name();
  if (observation_->options().observes(name_)) {
    types_ = std::make_unique<Types>();
    observed_ = true;
  }
  begun_ = true;
}

const std::string* ActorStats::intern(std::uint64_t type, std::string name) {
  return observation_->intern(type, std::move(name));
}

void ActorStats::note_run(const caf::local_actor& self) noexcept {
  resuming(self);
  if (begun_)
    note_run_on(worker_of(self));
}

void ActorStats::note_run_on(std::size_t worker) noexcept {
  worker_ = worker;
  try {
    noted_epoch_ = observed_ ? observation_->ran(worker, shared_from_this())
                             : epoch_.load(std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    // It notes itself when it runs the next time. If it has ended, nobody is told.
  }
}

void ActorStats::resuming(const caf::local_actor& self) noexcept {
  if (begun_)
    return;
  try {
    begin(self);
  } catch (...) { // its name may come from anybody
    // It begins when it runs the next time.
  }
}

void ActorStats::resumed(std::size_t worker, std::uint64_t microseconds,
                         std::uint64_t waiting) noexcept {
  bump(resumes_);
  bump(busy_us_, microseconds);
  waiting_.store(waiting, std::memory_order_relaxed);
  if (begun_ && noted_epoch_ != epoch_.load(std::memory_order_relaxed))
    note_run_on(worker);
}

void ActorStats::end(const caf::actor_system& system, const caf::error& reason) noexcept {
  if (!begun_ || ended())
    return; // it has never run, or this is the second time that we are told
  try {
    reason_ = poison_of(system, reason);
  } catch (...) {        // a reason may be rendered by anybody
    reason_ = "unknown"; // which is short enough to need no memory
  }
  ended_.store(true, std::memory_order_release);
  note_run_on(worker_); // it does not run again, so this is what gets it reported
}

ActorSnapshot ActorStats::snapshot(bool over) const {
  ActorSnapshot result;
  result.address = std::to_string(id_);
  result.name = name_;
  const std::uint64_t resumes = resumes_.load(std::memory_order_relaxed);
  const std::uint64_t processed = processed_.load(std::memory_order_relaxed);
  const std::uint64_t arrived = arrived_.load(std::memory_order_relaxed);
  result.messages_processed = processed;
  result.mailbox_depth = over || arrived < processed ? 0 : arrived - processed;
  if (resumes > 0 && processed == 0) { // seen from the scheduler only
    result.exact = false;
    result.resumes = resumes;
    result.busy_us = busy_us_.load(std::memory_order_relaxed);
    result.mailbox_depth = over ? 0 : waiting_.load(std::memory_order_relaxed);
  }
  if (const Type* last = last_type_.load(std::memory_order_acquire))
    result.last_msg_type = *last->name;
  for (const Type& type : *types_)
    if (type.key.load(std::memory_order_acquire) != 0)
      if (const std::uint64_t count = type.count.load(std::memory_order_relaxed))
        result.message_type_counts.push_back({*type.name, count});
  if (const std::uint64_t others = other_types_.load(std::memory_order_relaxed))
    result.message_type_counts.push_back({"others", others});
  std::ranges::stable_sort(result.message_type_counts, std::greater<>(), &MessageTypeCount::count);
  if (over && !reason_.empty()) {
    result.poisoned = true;
    result.reason = reason_;
  }
  return result;
}

} // namespace datastream::detail
