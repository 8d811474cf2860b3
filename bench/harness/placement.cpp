#include "harness/placement.hpp"

#include "harness/require.hpp"

#include <algorithm>

namespace bench {
namespace {

/// The first two CPUs that this process was given at its start; the same one twice if there is
/// only one.
const std::vector<int>& cpus() {
  static const std::vector<int> found = [] {
    cpu_set_t allowed;
    require(::sched_getaffinity(0, sizeof allowed, &allowed) == 0, "the CPU mask can be read");
    std::vector<int> list;
    for (int cpu = 0; cpu < CPU_SETSIZE && list.size() < 2; ++cpu)
      if (CPU_ISSET(cpu, &allowed))
        list.push_back(cpu);
    return list;
  }();
  return found;
}

void pin_to(std::size_t index) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpus()[index], &mask);
  require(::sched_setaffinity(0, sizeof mask, &mask) == 0, "a thread can be pinned");
}

} // namespace

std::string_view to_string(Placement placement) noexcept {
  return placement == Placement::one_cpu ? "one CPU" : "two CPUs";
}

const std::vector<Placement>& placements() {
  static const std::vector<Placement> offered =
      cpus().size() < 2 ? std::vector{Placement::one_cpu}
                        : std::vector{Placement::one_cpu, Placement::two_cpus};
  return offered;
}

void pin_consumer(Placement placement) {
  pin_to(placement == Placement::one_cpu ? 0 : 1);
}

void pin_producer(Placement placement, std::size_t number) {
  pin_to(placement == Placement::one_cpu ? 0 : number % 2);
}

Confined::Confined(Placement placement) {
  require(::sched_getaffinity(0, sizeof before_, &before_) == 0, "the CPU mask can be read");
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (std::size_t i = 0; i < (placement == Placement::one_cpu ? 1U : 2U); ++i)
    CPU_SET(cpus()[i], &mask);
  require(::sched_setaffinity(0, sizeof mask, &mask) == 0, "a thread can be confined");
}

Confined::~Confined() {
  ::sched_setaffinity(0, sizeof before_, &before_);
}

} // namespace bench
