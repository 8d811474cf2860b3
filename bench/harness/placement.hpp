#pragma once
/// Where the threads of a measure run. With several threads a run on one CPU and a run on two
/// differ by up to ten times, so a measure is only worth something when it says which it was.

#include <sched.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace bench {

enum class Placement {
  one_cpu,  ///< all threads share the first CPU that this process may use
  two_cpus, ///< the consuming thread has the second CPU, producers alternate from the first on
};

std::string_view to_string(Placement placement) noexcept;

/// The placements that this machine can offer.
const std::vector<Placement>& placements();

/// Pins the calling thread, which takes from a queue.
void pin_consumer(Placement placement);
/// Pins the calling thread, the producer of that number.
void pin_producer(Placement placement, std::size_t number);

/// Confines the calling thread, and every thread that it starts, to the CPUs of a placement for as
/// long as this object lives. For measures whose threads belong to a library.
class Confined {
public:
  explicit Confined(Placement placement);
  ~Confined();
  Confined(const Confined&) = delete;
  Confined& operator=(const Confined&) = delete;

private:
  cpu_set_t before_;
};

} // namespace bench
