#pragma once
/// What CAF leaves in a thread that calls it.

#include <datastream/caf/version.hpp>

#include <caf/actor_system.hpp>
#include <caf/logger.hpp>

namespace datastream::compat {

/// While it exists, its thread may spawn actors in `system`, use a `caf::scoped_actor`, or call
/// what does; afterwards the thread is as it was. Without this, the thread would keep the system's
/// logger until it ends or meets another system, and on 0.17.6 the end of the system waits for its
/// logger.
class ThreadLogger {
public:
  explicit ThreadLogger(caf::actor_system& system)
      : was_set_(caf::logger::current_logger() == &system.logger()) {}
  ThreadLogger(const ThreadLogger&) = delete;
  ThreadLogger& operator=(const ThreadLogger&) = delete;
  ~ThreadLogger() {
    if (was_set_) // a thread of the system itself
      return;
#if DATASTREAM_CAF_1X
    caf::logger::current_logger(nullptr);
#else
    caf::logger::set_current_actor_system(nullptr);
#endif
  }

private:
  bool was_set_;
};

} // namespace datastream::compat
