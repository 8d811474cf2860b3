#pragma once

#include "supervised_process.hpp"

#include <utility> // Boost 1.74 forgets it

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <thread>
#include <unordered_set>

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

  /// Watches a process from now on. From any thread.
  void adopt(std::shared_ptr<SupervisedProcess> process);
  /// Kills all processes and waits until they have ended; on its own thread, without waiting.
  /// Nothing is adopted after it.
  void shut_down();

private:
  ProcessLoop() = default;
  void run() noexcept;

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::unordered_set<std::shared_ptr<SupervisedProcess>> processes_; // of its thread
  bool closing_ = false;                                             // of its thread
  std::thread thread_;
  std::thread::id thread_id_;
};

} // namespace datastream
