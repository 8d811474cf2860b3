#include "installed_caf017.hpp"

#include <map>
#include <mutex>

namespace datastream::detail {
namespace {

struct Installed {
  std::mutex mutex;
  std::map<const caf::actor_system_config*, std::shared_ptr<Observation>> by_config;
};
Installed& installed() {
  static Installed all;
  return all;
}

} // namespace

std::shared_ptr<Observation> installed_in(const caf::actor_system_config& config) {
  const std::lock_guard lock(installed().mutex);
  const auto it = installed().by_config.find(&config);
  return it == installed().by_config.end() ? nullptr : it->second;
}

void install_in(const caf::actor_system_config& config, std::shared_ptr<Observation> observation) {
  const std::lock_guard lock(installed().mutex);
  installed().by_config[&config] = std::move(observation);
}

void uninstall(const std::shared_ptr<Observation>& observation) {
  const std::lock_guard lock(installed().mutex);
  std::erase_if(installed().by_config,
                [&](const auto& entry) { return entry.second == observation; });
}

} // namespace datastream::detail
