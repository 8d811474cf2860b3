#include "observing_scheduler_caf017.hpp"
#include "worker.hpp"

#include <caf/local_actor.hpp>
#include <caf/policy/work_sharing.hpp>
#include <caf/policy/work_stealing.hpp>
#include <caf/scheduler/worker.hpp>

namespace datastream::detail {
namespace {

template <class Policy>
bool is_worker_of(caf::execution_unit* unit, std::size_t& id) {
  const auto* worker = dynamic_cast<caf::scheduler::worker<Policy>*>(unit);
  if (worker)
    id = worker->id();
  return worker != nullptr;
}

} // namespace

std::size_t worker_of(const caf::local_actor& self) {
  caf::execution_unit* const unit = const_cast<caf::local_actor&>(self).context();
  std::size_t id = 0;
  if (is_worker_of<caf::policy::work_stealing>(unit, id) ||
      is_worker_of<caf::policy::work_sharing>(unit, id) ||
      is_worker_of<ObservingWorkStealing>(unit, id))
    return id;
  return detached_worker;
}

} // namespace datastream::detail
