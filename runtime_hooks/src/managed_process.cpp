#include <datastream/hooks/managed_process.hpp>

#include "process_loop.hpp"
#include "supervised_process.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace datastream {

ManagedProcess::ManagedProcess(std::shared_ptr<ProcessLoop> loop,
                               std::shared_ptr<SupervisedProcess> process) noexcept
    : loop_(std::move(loop)), process_(std::move(process)) {}

ManagedProcess::ManagedProcess(ManagedProcess&& other) noexcept = default;

ManagedProcess& ManagedProcess::operator=(ManagedProcess&& other) noexcept {
  if (this != &other) {
    end();
    loop_ = std::move(other.loop_);
    process_ = std::move(other.process_);
  }
  return *this;
}

ManagedProcess::~ManagedProcess() {
  end();
}

void ManagedProcess::end() noexcept {
  if (!process_)
    return;
  if (!process_->ended())
    loop_->abandon(process_);
  if (!loop_->on_its_thread())
    process_->wait();
  process_.reset();
}

int ManagedProcess::pid() const noexcept {
  return process_->pid();
}

const std::string& ManagedProcess::label() const noexcept {
  return process_->channels().label();
}

std::optional<ProcessExit> ManagedProcess::exit_status() const {
  return process_->exit_status();
}

bool ManagedProcess::wait(std::chrono::milliseconds timeout) const {
  return loop_->on_its_thread() ? process_->ended() : process_->wait(timeout);
}

void ManagedProcess::stop(std::chrono::milliseconds grace) {
  if (!process_->ended())
    boost::asio::post(loop_->io(), [process = process_, grace] { process->stop(grace); });
}

ProcessCounts ManagedProcess::counts() const {
  return process_->channels().counts();
}

} // namespace datastream
