#include "supervised_process.hpp"

#include "pidfd.hpp"

#include <datastream/hooks/process_runner.hpp>
#include <datastream/log_sink.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace datastream {
namespace {

/// Reads of one output before the others have their turn: what a pipe holds.
constexpr int reads_a_turn = 8;

/// Longer times mean for ever, and would overflow.
constexpr std::chrono::milliseconds longest_wait = std::chrono::hours(24 * 365);

struct Waited {
  enum class State { running, exited, reaped_elsewhere, failed };
  State state = State::failed;
  ProcessExit status{};
};

std::string explained(std::string_view what, std::string_view why) {
  std::string text(what);
  if (!why.empty())
    text.append(": ").append(why);
  return text;
}

void log_thrown(const std::string& label, std::string_view why) noexcept {
  try {
    log_message(LogSeverity::error,
                explained("callback of process '" + label + "' has thrown", why));
  } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch): then nobody can be told
  }
}

/// Looks whether the process has exited. Leaves it as a zombie unless it is to be reaped.
Waited look(int pidfd, int options) {
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | options) != 0)
    return {errno == ECHILD ? Waited::State::reaped_elsewhere : Waited::State::failed};
  if (info.si_pid == 0)
    return {Waited::State::running};
  return {Waited::State::exited, exit_of(info)};
}

boost::system::error_code take_over(boost::asio::posix::stream_descriptor& descriptor,
                                    FileDescriptor& fd) {
  boost::system::error_code error;
  if (fd)
    descriptor.assign(fd.get(), error); // NOLINT(bugprone-unused-return-value): it is `error`
  if (!error)
    fd.release();
  return error;
}

void close_descriptor(boost::asio::posix::stream_descriptor& descriptor) {
  boost::system::error_code ignored; // it is gone either way
  descriptor.close(ignored);         // NOLINT(bugprone-unused-return-value): it is `ignored`
}

} // namespace

SupervisedProcess::SupervisedProcess(boost::asio::io_context& io,
                                     std::shared_ptr<ProcessChannels> channels, Callback on_exit,
                                     Callback on_end)
    : channels_(std::move(channels)), on_exit_(std::move(on_exit)), on_end_(std::move(on_end)),
      pidfd_(io), out_{Descriptor(io), false}, err_{Descriptor(io), true}, timer_(io) {}

SupervisedProcess::~SupervisedProcess() {
  kill_unwatched();
}

std::expected<void, std::string> SupervisedProcess::watch(SpawnedProcess spawned) {
  pid_ = spawned.pid;
  unwatched_ = static_cast<bool>(spawned.pidfd);
  for (auto [descriptor, fd] :
       {std::pair(&pidfd_, &spawned.pidfd), std::pair(&out_.descriptor, &spawned.standard_output),
        std::pair(&err_.descriptor, &spawned.standard_error)})
    if (const auto error = take_over(*descriptor, *fd)) {
      kill_unwatched();
      return std::unexpected(error.message());
    }
  return {};
}

ProcessExit SupervisedProcess::kill_unwatched() noexcept {
  return std::exchange(unwatched_, false) ? kill_and_reap(pid_) : ProcessExit{};
}

std::optional<ProcessExit> SupervisedProcess::exit_status() const {
  const std::lock_guard lock(mutex_);
  return exit_;
}

bool SupervisedProcess::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool SupervisedProcess::wait(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock,
                           std::clamp(timeout, std::chrono::milliseconds::zero(), longest_wait),
                           [this] { return ended_; });
}

void SupervisedProcess::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_; });
}

void SupervisedProcess::begin(std::function<void()> gone) {
  gone_ = std::move(gone);
  unwatched_ = false;
  keep_watching();
}

void SupervisedProcess::keep_watching() {
  for (Output* output : {&out_, &err_})
    if (output->descriptor.is_open() && !output->awaited)
      await_output(*output);
  if (kill_at_ && !killed_ && !deadline_awaited_)
    await_deadline();
  if (exited_ || exit_awaited_)
    return;
  if (pidfd_.is_open())
    await_exit();
  else
    exited({});
}

void SupervisedProcess::await_output(Output& output) {
  // Waiting and reading are apart, so that no chunk is ever on its way while another is read.
  output.descriptor.async_wait(Descriptor::wait_read, [this, &output, self = shared_from_this()](
                                                          const boost::system::error_code&) {
    output.awaited = false;
    if (output.descriptor.is_open())
      read_output(output);
  });
  output.awaited = true;
}

void SupervisedProcess::read_output(Output& output) {
  for (int turn = 0; turn < reads_a_turn; ++turn)
    if (read_chunk(output, ProcessRunner::chunk_bytes) == 0)
      break;
  if (output.descriptor.is_open())
    await_output(output);
  else
    end_if_complete();
}

/// Reads as much as the pipe holds now, and not what is written meanwhile.
void SupervisedProcess::read_what_is_there(Output& output) noexcept {
  if (!output.descriptor.is_open())
    return;
  int size = 0;
  if (::ioctl(output.descriptor.native_handle(), FIONREAD, &size) != 0)
    return fault("the size of what is left of its output", errno);
  for (auto left = static_cast<std::size_t>(size); left > 0;) {
    const std::size_t got = read_chunk(output, std::min(left, ProcessRunner::chunk_bytes));
    if (got == 0)
      return;
    left -= got;
  }
}

/// Reads one chunk and passes it on. 0: nothing is there now; or nothing ever will, and the output
/// is closed.
std::size_t SupervisedProcess::read_chunk(Output& output, std::size_t limit) noexcept {
  std::array<char, ProcessRunner::chunk_bytes> chunk; // NOLINT(*-member-init): read() fills it
  ssize_t got = 0;
  do
    got = ::read(output.descriptor.native_handle(), chunk.data(), limit);
  while (got < 0 && errno == EINTR);
  if (got > 0) {
    const auto size = static_cast<std::size_t>(got);
    pass_on(output.is_stderr, {chunk.data(), size});
    return size;
  }
  if (got < 0 && errno == EAGAIN)
    return 0;
  if (got < 0)
    fault("reading its output", errno);
  close_descriptor(output.descriptor);
  return 0;
}

void SupervisedProcess::await_exit() {
  pidfd_.async_wait(Descriptor::wait_read,
                    [this, self = shared_from_this()](const boost::system::error_code&) {
                      exit_awaited_ = false;
                      if (pidfd_.is_open() && !exited_)
                        look_for_exit();
                    });
  exit_awaited_ = true;
}

void SupervisedProcess::look_for_exit() {
  // It stays a zombie until the end, so that its group's number is not given to others.
  const Waited waited = look(pidfd_.native_handle(), WNOWAIT);
  switch (waited.state) {
  case Waited::State::running:
    return await_exit();
  case Waited::State::failed:
    fault("its exit status", errno);
    return exited({});
  case Waited::State::exited:
  case Waited::State::reaped_elsewhere:
    return exited(waited.status);
  }
}

void SupervisedProcess::exited(const ProcessExit& status) noexcept {
  exited_ = true;
  read_what_is_there(out_);
  read_what_is_there(err_);
  channels_->publish(ProcessExited{status});
  {
    const std::lock_guard lock(mutex_);
    exit_ = status;
  }
  call(std::exchange(on_exit_, nullptr), status);
  end_if_complete();
}

void SupervisedProcess::end_if_complete() noexcept {
  if (!exited_ || over_)
    return;
  if (killed_ || (!out_.descriptor.is_open() && !err_.descriptor.is_open()))
    end();
}

void SupervisedProcess::end() noexcept {
  over_ = true;
  if (kill_at_ && !killed_)
    signal_group(SIGKILL); // what is left of the group
  for (Output* output : {&out_, &err_}) {
    read_what_is_there(*output);
    close_descriptor(output->descriptor);
  }
  if (pidfd_.is_open())
    look(pidfd_.native_handle(), 0); // reaps it
  close_descriptor(pidfd_);
  boost::system::error_code ignored;
  timer_.cancel(ignored);
  channels_->close();

  call(std::exchange(on_end_, nullptr), *exit_status());
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  gone_();
}

void SupervisedProcess::stop(std::chrono::milliseconds grace) {
  if (over_ || killed_)
    return;
  if (grace <= std::chrono::milliseconds::zero())
    return kill();
  const auto kill_at = Clock::now() + std::min(grace, longest_wait);
  const bool asked = kill_at_.has_value();
  if (asked && *kill_at_ <= kill_at)
    return;
  kill_at_ = kill_at;
  deadline_awaited_ = false;
  if (!asked) {
    if (signal_group(SIGTERM))
      signal_group(SIGCONT); // a stopped process hears nothing else
  }
  await_deadline();
}

void SupervisedProcess::await_deadline() {
  timer_.expires_at(*kill_at_);
  timer_.async_wait([this, self = shared_from_this()](const boost::system::error_code& error) {
    if (!error)
      kill();
  });
  deadline_awaited_ = true;
}

void SupervisedProcess::kill() noexcept {
  if (over_ || killed_)
    return;
  out_of_reach_ = !signal_group(SIGKILL);
  killed_ = true;
  end_if_complete();
}

void SupervisedProcess::abandon() noexcept {
  kill();
  if (out_of_reach_ && !exited_)
    exited({}); // which is its end, for it counts as killed
}

/// Whether the process is still ours to signal; if not, its number may be somebody else's.
bool SupervisedProcess::may_signal() noexcept {
  if (!pidfd_.is_open())
    return false;
  const auto state = look(pidfd_.native_handle(), WNOWAIT).state;
  return state == Waited::State::running || state == Waited::State::exited;
}

/// False when the process runs as a user whose processes we may not signal.
bool SupervisedProcess::signal_group(int signal) noexcept {
  if (!may_signal())
    return true;
  ::kill(-pid_, signal); // also succeeds where it reaches others of the group only
  const bool has_left = ::getpgid(pid_) != pid_;
  if (send_signal(pidfd_.native_handle(), has_left ? signal : 0) == 0 || errno != EPERM || exited_)
    return true;
  fault("signalling it", EPERM);
  return false;
}

void SupervisedProcess::pass_on(bool is_stderr, std::string_view chunk) noexcept {
  constexpr std::string_view what = "the observer of its output has thrown";
  try {
    channels_->on_output(channels_->label(), is_stderr, chunk);
  } catch (const std::exception& error) { // a mistake of the caller's observer
    fault(what, error.what());
  } catch (...) {
    fault(what, std::string_view());
  }
}

void SupervisedProcess::fault(std::string_view what, std::string_view why) noexcept {
  try {
    channels_->publish(ProcessFault{explained(what, why)});
  } catch (const std::bad_alloc&) {
    channels_->publish(ProcessFault{"out of memory"}); // so short that it needs none
  }
}

void SupervisedProcess::fault(std::string_view what, int error) noexcept {
  std::array<char, 128> text{};
  fault(what, ::strerror_r(error, text.data(), text.size()));
}

void SupervisedProcess::call(Callback callback, const ProcessExit& status) noexcept {
  if (!callback)
    return;
  try {
    callback(status);
  } catch (const std::exception& error) {
    log_thrown(channels_->label(), error.what());
  } catch (...) {
    log_thrown(channels_->label(), {});
  }
}

} // namespace datastream
