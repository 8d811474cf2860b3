#pragma once
/// What is counted of one actor. For the instrumentation, not for programs.

#include <datastream/caf/version.hpp>
#include <datastream/hooks/stats_hook.hpp>

#include <caf/fwd.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

namespace datastream::detail {

class Observation;

/// Written by the thread that runs the actor, with plain stores; `arrived` by all that send to it.
/// Read by the reporting thread. Where there is no memory an actor is observed later, or a report
/// is missing: none of this fails, for it runs inside of the actors of others.
class ActorStats : public std::enable_shared_from_this<ActorStats> {
public:
  ActorStats(std::shared_ptr<Observation> observation, std::uint64_t id);

  void arrived() noexcept { arrived_.fetch_add(1, std::memory_order_relaxed); }

  /// The actor is about to handle a message of this type. `name` is called for the text of types
  /// that were not seen before.
  template <class Name>
  void handling(const caf::local_actor& self, std::uint64_t type, Name&& name) noexcept;
  /// How that has ended: it counts; or the actor has skipped the message, which waits on.
  void handled() noexcept;
  void skipped() noexcept;
  /// The scheduler is about to resume it.
  void resuming(const caf::local_actor& self) noexcept;
  /// It has run for so long on this worker, and so many messages were waiting before.
  void resumed(std::size_t worker, std::uint64_t microseconds, std::uint64_t waiting) noexcept;
  /// The actor has ended.
  void end(const caf::actor_system& system, const caf::error& reason) noexcept;

  /// What the reporting thread knows of this actor.
  struct Reported {
    std::uint64_t activity = 0;
    std::uint64_t report = 0; ///< number of the last report that it was in
    bool end = false;
  };
  Reported reported{};
  /// How much it has done so far, in whatever is counted of it.
  std::uint64_t activity() const noexcept {
    return processed_.load(std::memory_order_relaxed) + resumes_.load(std::memory_order_relaxed) +
           (ended() ? 1 : 0);
  }
  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  /// It has ended badly.
  bool poisoned() const noexcept { return ended() && !reason_.empty(); }
  /// `over`: say how it ended.
  ActorSnapshot snapshot(bool over) const;

private:
  struct Type {
    std::atomic<std::uint64_t> key{0}; // 0: free; set last
    std::atomic<std::uint64_t> count{0};
    const std::string* name = nullptr;
  };
  using Types = std::array<Type, 16>;

  static void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  void begin(const caf::local_actor& self);
  void note_run(const caf::local_actor& self) noexcept;
  void note_run_on(std::size_t worker) noexcept;
  template <class Name>
  bool learn(Type& unknown, std::uint64_t type, Name& name) noexcept;
  const std::string* intern(std::uint64_t type, std::string name);

  const std::shared_ptr<Observation> observation_;
  const std::uint64_t id_;
  const std::atomic<std::uint32_t>& epoch_; // of the observation: moves with every report
  // Of the thread that runs the actor.
  std::uint32_t noted_epoch_ = 0;
  bool begun_ = false;
  std::size_t worker_ = 0;
  bool observed_ = false; // until it has begun
  Type* last_ = nullptr;
  Type* before_last_ = nullptr;

  std::string name_; // set once, before the first report
  alignas(64) std::atomic<std::uint64_t> arrived_{0};
  alignas(64) std::atomic<std::uint64_t> processed_{0};
  std::atomic<std::uint64_t> resumes_{0};
  std::atomic<std::uint64_t> busy_us_{0};
  std::atomic<std::uint64_t> waiting_{0};
  std::atomic<std::uint64_t> other_types_{0};
  std::atomic<const Type*> last_type_{nullptr};
  std::unique_ptr<Types> types_; // made when the actor runs for the first time
  std::atomic<bool> ended_{false};
  std::string reason_; // set before `ended_`
};

template <class Name>
void ActorStats::handling(const caf::local_actor& self, std::uint64_t type, Name&& name) noexcept {
  if (noted_epoch_ != epoch_.load(std::memory_order_relaxed)) [[unlikely]]
    note_run(self);
  if (!observed_)
    return;
  before_last_ = last_;
  if (!last_ || last_->key.load(std::memory_order_relaxed) != type) [[unlikely]] {
    last_ = nullptr;
    for (Type& known : *types_) {
      const std::uint64_t key = known.key.load(std::memory_order_relaxed);
      if (key == 0 && !learn(known, type, name))
        break; // it counts among the others
      if (key == 0 || key == type) {
        last_ = &known;
        break;
      }
    }
    last_type_.store(last_, std::memory_order_release);
  }
}

/// False: there is no memory.
template <class Name>
bool ActorStats::learn(Type& unknown, std::uint64_t type, Name& name) noexcept {
  try {
    unknown.name = intern(type, name());
  } catch (const std::bad_alloc&) {
    return false;
  }
  unknown.key.store(type, std::memory_order_release);
  return true;
}

inline void ActorStats::handled() noexcept {
  if (observed_)
    bump(last_ ? last_->count : other_types_);
  bump(processed_);
}

inline void ActorStats::skipped() noexcept {
  last_ = before_last_;
  last_type_.store(last_, std::memory_order_release);
}

} // namespace datastream::detail
