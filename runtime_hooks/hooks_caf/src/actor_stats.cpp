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

ActorStats::ActorStats(std::shared_ptr<Observation> observation, std::uint64_t id)
    : observation_(std::move(observation)), id_(id), epoch_(observation_->epoch()) {}

/// An actor has its final name when it runs for the first time.
void ActorStats::begin(const caf::local_actor& self) {
  begun_ = true;
  name_ = self.name();
  observed_ = observation_->options().observes(name_);
  if (observed_)
    types_ = std::make_unique<Types>();
}

const std::string* ActorStats::intern(std::uint64_t type, std::string name) {
  return observation_->intern(type, std::move(name));
}

void ActorStats::note_run(const caf::local_actor& self) {
  resuming(self);
  note_run_on(worker_of(self));
}

void ActorStats::note_run_on(std::size_t worker) {
  worker_ = worker;
  noted_epoch_ = observed_ ? observation_->ran(worker, shared_from_this())
                           : epoch_.load(std::memory_order_relaxed);
}

void ActorStats::resuming(const caf::local_actor& self) {
  if (!begun_)
    begin(self);
}

void ActorStats::resumed(std::size_t worker, std::uint64_t microseconds, std::uint64_t waiting) {
  bump(resumes_);
  bump(busy_us_, microseconds);
  waiting_.store(waiting, std::memory_order_relaxed);
  if (noted_epoch_ != epoch_.load(std::memory_order_relaxed))
    note_run_on(worker);
}

void ActorStats::end(std::string poison) {
  if (!begun_ || ended())
    return; // it has never run, or this is the second time that we are told
  reason_ = std::move(poison);
  ended_.store(true, std::memory_order_release);
  note_run_on(worker_); // it does not run again, so this is what gets it reported
}

std::string poison_of(const caf::actor_system& system, const caf::error& reason) {
  const bool well = !reason || reason == caf::make_error(caf::exit_reason::user_shutdown) ||
                    reason == caf::make_error(caf::exit_reason::unreachable);
  return well ? std::string() : compat::render(system, reason);
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
