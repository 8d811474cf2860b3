#include "process_loop.hpp"

#include <datastream/log_sink.hpp>

#include <csignal>
#include <exception>
#include <string>

namespace datastream {
namespace {

/// The program's signal handlers run on its own threads.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

} // namespace

std::shared_ptr<ProcessLoop> ProcessLoop::start() {
  std::shared_ptr<ProcessLoop> loop(new ProcessLoop);
  loop->thread_ = std::thread([loop] { loop->run(); });
  loop->thread_id_ = loop->thread_.get_id();
  return loop;
}

void ProcessLoop::run() noexcept {
  block_signals();
  for (;;) {
    try {
      io_.run();
      return;
    } catch (const std::exception& error) {
      log_message(LogSeverity::error, std::string("process runner: ") + error.what());
    }
  }
}

void ProcessLoop::adopt(std::shared_ptr<SupervisedProcess> process) {
  boost::asio::post(io_, [this, process = std::move(process)] {
    processes_.insert(process);
    process->begin([this, process = process.get()] {
      processes_.erase(process->shared_from_this());
      if (closing_ && processes_.empty())
        work_.reset();
    });
  });
}

void ProcessLoop::shut_down() {
  boost::asio::post(io_, [this] {
    closing_ = true;
    if (processes_.empty())
      work_.reset();
    for (const auto& process : std::unordered_set(processes_)) // one that ends leaves the set
      process->kill();
  });
  if (on_its_thread())
    thread_.detach();
  else
    thread_.join();
}

} // namespace datastream
