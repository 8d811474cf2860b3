#include "process_loop.hpp"

#include <datastream/detail/signals_blocked.hpp>
#include <datastream/log_sink.hpp>

#include <boost/asio/post.hpp>

#include <chrono>
#include <exception>
#include <new>
#include <string>

namespace datastream {
namespace {

/// What there was no memory for gets so long to find some.
constexpr std::chrono::milliseconds pause{10};

void log_failure(const std::exception& error) noexcept {
  try {
    log_message(LogSeverity::error, std::string("process runner: ") + error.what());
  } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch): nor is there any for the text
  }
}

} // namespace

std::shared_ptr<ProcessLoop> ProcessLoop::start() {
  std::shared_ptr<ProcessLoop> loop(new ProcessLoop);
  const detail::SignalsBlocked blocked;
  loop->thread_ = std::thread([loop] { loop->run(); });
  loop->thread_id_ = loop->thread_.get_id();
  return loop;
}

void ProcessLoop::run() noexcept {
  for (bool failed = false;;) {
    try {
      if (std::exchange(failed, false)) {
        std::this_thread::sleep_for(pause);
        keep_watching();
      }
      io_.run();
      return;
    } catch (const std::exception& error) {
      failed = true;
      log_failure(error);
    }
  }
}

void ProcessLoop::adopt(std::shared_ptr<SupervisedProcess> process) {
  Processes arrived;
  arrived.push_back(std::move(process));
  boost::asio::post(io_,
                    [this, arrived = std::move(arrived)]() mutable { watch(std::move(arrived)); });
}

void ProcessLoop::watch(Processes arrived) {
  const auto entry = arrived.begin();
  // A copy, as the entry may be forgotten here.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::shared_ptr<SupervisedProcess> process = *entry;
  processes_.splice(processes_.end(), arrived);
  process->begin([this, entry] { forget(entry); });
  if (closing_)
    process->abandon();
}

void ProcessLoop::forget(Processes::iterator process) noexcept {
  processes_.erase(process);
  if (closing_ && processes_.empty())
    work_.reset();
}

void ProcessLoop::keep_watching() {
  for (auto next = processes_.begin(); next != processes_.end();) {
    const std::shared_ptr<SupervisedProcess> process = *next++; // one that ends leaves the list
    process->keep_watching();
    if (closing_)
      process->abandon();
  }
}

void ProcessLoop::abandon(std::shared_ptr<SupervisedProcess> process) noexcept {
  post_for_certain([process = std::move(process)] { process->abandon(); });
}

void ProcessLoop::shut_down() noexcept {
  post_for_certain([this] { close(); });
  if (on_its_thread())
    thread_.detach();
  else
    thread_.join();
}

void ProcessLoop::close() noexcept {
  closing_ = true;
  if (processes_.empty())
    work_.reset();
  for (auto next = processes_.begin(); next != processes_.end();) {
    const std::shared_ptr<SupervisedProcess> process = *next++; // one that ends leaves the list
    process->abandon();
  }
}

/// Waits for memory as long as there is none: who calls this waits for what it brings about.
template <class Job>
void ProcessLoop::post_for_certain(Job job) noexcept {
  for (;;) {
    try {
      return boost::asio::post(io_, job);
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(pause);
    }
  }
}

} // namespace datastream
