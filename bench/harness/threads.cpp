#include "harness/threads.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <thread>

namespace bench {

double run_together(const std::vector<Task>& tasks) {
  using Time = std::chrono::steady_clock::time_point;
  struct Span {
    Time begin;
    Time end;
  };
  std::vector<Span> spans(tasks.size());
  std::barrier start{static_cast<std::ptrdiff_t>(tasks.size())};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < tasks.size(); ++i)
      threads.emplace_back([&, i] {
        tasks[i].prepare();
        start.arrive_and_wait();
        spans[i].begin = std::chrono::steady_clock::now();
        tasks[i].work();
        spans[i].end = std::chrono::steady_clock::now();
      });
  }
  const Time begin = std::ranges::min(spans, {}, &Span::begin).begin;
  const Time end = std::ranges::max(spans, {}, &Span::end).end;
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

} // namespace bench
