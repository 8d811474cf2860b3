#pragma once

#include "supervised_process.hpp"

#include <utility> // Boost 1.74 forgets it

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <list>
#include <memory>
#include <thread>

namespace datastream {

/// The thread that watches all processes of a runner. It keeps itself alive until `shut_down` has
/// been called and its last process has ended.
class ProcessLoop : public std::enable_shared_from_this<ProcessLoop> {
public:
  /// Throws `std::system_error` and `std::bad_alloc`.
  static std::shared_ptr<ProcessLoop> start();
  ProcessLoop(const ProcessLoop&) = delete;
  ProcessLoop& operator=(const ProcessLoop&) = delete;

  boost::asio::io_context& io() noexcept { return io_; }
  bool on_its_thread() const noexcept { return std::this_thread::get_id() == thread_id_; }

  /// Watches a process from now on. From any thread. Throws `std::bad_alloc`.
  void adopt(std::shared_ptr<SupervisedProcess> process);
  /// Kills the process, or gives it up where that is not allowed. From any thread.
  void abandon(std::shared_ptr<SupervisedProcess> process) noexcept;
  /// Does the same with all processes, also with what is adopted later, and waits until they have
  /// ended; on its own thread, without waiting.
  void shut_down() noexcept;

private:
  using Processes = std::list<std::shared_ptr<SupervisedProcess>>;

  ProcessLoop() = default;
  void run() noexcept;
  void watch(Processes arrived);
  void keep_watching();
  void close() noexcept;
  void forget(Processes::iterator process) noexcept;
  template <class Job>
  void post_for_certain(Job job) noexcept;

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  Processes processes_;  // of its thread
  bool closing_ = false; // of its thread
  std::thread thread_;
  std::thread::id thread_id_;
};

} // namespace datastream
