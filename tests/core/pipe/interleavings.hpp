#pragma once
/// Runs small concurrent programs in every order that a bounded number of preemptions allows.
///
/// The threads of a program are fibers of one real thread. They run the code under test on
/// `interleavings::Atomic`, each of whose operations is a place where another fiber may go on
/// instead. The explorer remembers which way it went at each place and, in the next execution,
/// goes another way at the last place that has one left: depth-first search by replay. Memory is
/// sequentially consistent here; what weaker orders could do is for ThreadSanitizer to find.

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace interleavings {

class Explorer {
public:
  /// Switches away from a fiber that could go on, at most, in one execution.
  explicit Explorer(unsigned preemptions) : preemptions_(preemptions) {}

  /// What one execution consists of.
  struct Program {
    std::vector<std::function<void()>> threads;
    std::function<void()> observe; ///< after every step; sees the state, adds no steps
    std::function<void()> finish;  ///< when all threads are done
  };

  /// Runs the programs that `make` returns until every order was tried or one failed.
  /// Returns the failure, with the number of executions before it.
  std::optional<std::string> explore(const std::function<Program()>& make) {
    choices_.clear();
    do {
      execute(make());
      ++executions_;
    } while (!failure_ && next_path());
    if (failure_)
      *failure_ += " (execution " + std::to_string(executions_) + ")";
    return failure_;
  }

  std::uint64_t executions() const { return executions_; }

  /// To be called by the program's threads.
  static void step();
  static void block_until(std::function<bool()> condition);
  static void fail(const std::string& what) {
    if (running && !running->failure_)
      running->failure_ = what;
  }
  static void require(bool condition, const char* what) {
    if (!condition)
      fail(what);
  }
  /// How often another thread has gone on so far.
  static std::uint64_t turns() { return running->turns_; }
  /// For a thread that polls: waits until another one has gone on since `seen`.
  static void pause(std::uint64_t seen) {
    block_until([seen] { return running->turns_ != seen; });
  }

private:
  static constexpr std::size_t stack_bytes = 64U << 10U;

  struct Fiber {
    ucontext_t context{};
    std::function<void()> body;
    std::function<bool()> condition; // empty: may run
    bool done = false;
  };
  struct Choice {
    std::size_t taken;
    std::size_t of;
  };

  void execute(Program program) {
    while (stacks_.size() < program.threads.size())
      stacks_.push_back(std::make_unique<char[]>(stack_bytes));
    fibers_.clear();
    fibers_.resize(program.threads.size());
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      fibers_[i].body = std::move(program.threads[i]);
      getcontext(&fibers_[i].context);
      fibers_[i].context.uc_stack.ss_sp = stacks_[i].get();
      fibers_[i].context.uc_stack.ss_size = stack_bytes;
      makecontext(&fibers_[i].context, &Explorer::run_fiber, 0);
    }
    observe_ = std::move(program.observe);
    depth_ = 0;
    turns_ = 0;
    preemptions_left_ = preemptions_;
    running = this;
    current_ = choose(fibers_.size());
    swapcontext(&main_, &fibers_[current_].context);
    observing_ = true;
    if (!failure_) // a program that failed half way may not be in a state to be looked at
      program.finish();
    observing_ = false;
    running = nullptr;
  }

  static void run_fiber() {
    Explorer& self = *running;
    self.fibers_[self.current_].body();
    self.fibers_[self.current_].done = true;
    self.leave();
  }

  bool may_run(const Fiber& fiber) const {
    return !fiber.done && (!fiber.condition || fiber.condition());
  }

  std::size_t runnable_others() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < fibers_.size(); ++i)
      count += i != current_ && may_run(fibers_[i]) ? 1 : 0;
    return count;
  }

  std::size_t choose(std::size_t options) {
    if (options == 1)
      return 0;
    if (depth_ == choices_.size())
      choices_.push_back({0, options});
    return choices_[depth_++].taken;
  }

  bool next_path() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().of)
      choices_.pop_back();
    if (choices_.empty())
      return false;
    ++choices_.back().taken;
    return true;
  }

  /// Goes on with the `nth` of the others that may run.
  void go_to_other(std::size_t nth) {
    const std::size_t from = current_;
    ++turns_;
    for (std::size_t i = 0;; ++i)
      if (i != from && may_run(fibers_[i]) && nth-- == 0) {
        current_ = i;
        break;
      }
    swapcontext(&fibers_[from].context, &fibers_[current_].context);
  }

  /// The current fiber cannot go on: to switch is no preemption.
  void leave() {
    const std::size_t others = runnable_others();
    const bool all_done = std::ranges::all_of(fibers_, [](const Fiber& f) { return f.done; });
    if (others == 0 || failure_) {
      if (!all_done)
        fail("every thread waits for ever");
      setcontext(&main_);
    }
    go_to_other(choose(others));
  }

  inline static Explorer* running = nullptr;

  const unsigned preemptions_;
  unsigned preemptions_left_ = 0;
  std::vector<std::unique_ptr<char[]>> stacks_;
  std::vector<Fiber> fibers_;
  std::size_t current_ = 0;
  ucontext_t main_{};
  std::function<void()> observe_;
  bool observing_ = false;
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t executions_ = 0;
  std::optional<std::string> failure_;
};

inline void Explorer::step() {
  if (!running || running->observing_)
    return;
  Explorer& self = *running;
  self.observing_ = true; // what it does are no steps
  self.observe_();
  self.observing_ = false;
  if (self.failure_)
    setcontext(&self.main_);
  if (self.preemptions_left_ == 0)
    return;
  const std::size_t choice = self.choose(self.runnable_others() + 1);
  if (choice == 0)
    return;
  --self.preemptions_left_;
  self.go_to_other(choice - 1);
}

inline void Explorer::block_until(std::function<bool()> condition) {
  Fiber& fiber = running->fibers_[running->current_];
  if (condition())
    return;
  fiber.condition = std::move(condition);
  running->leave();
  fiber.condition = nullptr;
}

/// `std::atomic`, with a step before every operation, and one after those that write: plain
/// memory touched on either side of a write must not seem to change together with it.
template <class T>
class Atomic {
public:
  Atomic() = default;
  Atomic(T value) : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order) const noexcept {
    Explorer::step();
    return value_;
  }
  void store(T value, std::memory_order) noexcept {
    change([&](T) { return value; });
  }
  T exchange(T value, std::memory_order) noexcept {
    return change([&](T) { return value; });
  }
  T fetch_and(T value, std::memory_order) noexcept {
    return change([&](T old) { return old & value; });
  }
  T fetch_or(T value, std::memory_order) noexcept {
    return change([&](T old) { return old | value; });
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order,
                               std::memory_order = std::memory_order_relaxed) noexcept {
    const T wanted = expected;
    expected = change([&](T old) { return old == wanted ? value : old; });
    return expected == wanted;
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order,
                             std::memory_order failure = std::memory_order_relaxed) noexcept {
    return compare_exchange_strong(expected, value, order, failure);
  }

private:
  template <class Change>
  T change(Change&& change) noexcept {
    Explorer::step();
    const T old = value_;
    value_ = change(old);
    Explorer::step();
    return old;
  }

  T value_{};
};

} // namespace interleavings
