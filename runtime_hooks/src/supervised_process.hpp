#pragma once

#include "spawn.hpp"

#include <datastream/hooks/process_channels.hpp>
#include <datastream/hooks/process_event.hpp>

#include <utility> // Boost 1.74 forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace datastream {

/// One process from its start to its end. It ends when it has exited and both outputs are at their
/// end; or when it was killed and has exited; or when it was abandoned and cannot be killed.
///
/// What cannot go on for want of memory throws, and goes on with `keep_watching`.
///
/// Thread safety: the functions of the first group may be called from any thread, the others from
/// the loop's only.
class SupervisedProcess : public std::enable_shared_from_this<SupervisedProcess> {
public:
  using Callback = std::function<void(const ProcessExit&)>;

  SupervisedProcess(boost::asio::io_context& io, std::shared_ptr<ProcessChannels> channels,
                    Callback on_exit, Callback on_end);
  /// Kills and reaps a process that was taken over and that no loop has begun to watch.
  ~SupervisedProcess();
  SupervisedProcess(const SupervisedProcess&) = delete;
  SupervisedProcess& operator=(const SupervisedProcess&) = delete;

  /// Takes the process over, before the loop knows of it. Errors: the system refused, and the
  /// process was killed and reaped.
  std::expected<void, std::string> watch(SpawnedProcess spawned);
  /// Kills and reaps what no loop has begun to watch. Nothing is published.
  ProcessExit kill_unwatched() noexcept;

  pid_t pid() const noexcept { return pid_; }
  const ProcessChannels& channels() const noexcept { return *channels_; }
  std::optional<ProcessExit> exit_status() const;
  bool ended() const;
  /// Waits until it has ended, at most `timeout`; whether it has.
  bool wait(std::chrono::milliseconds timeout) const;
  void wait() const;

  /// `gone` is called when it has ended, last of all.
  void begin(std::function<void()> gone);
  /// Waits for whatever it should wait for and does not.
  void keep_watching();
  void stop(std::chrono::milliseconds grace);
  void kill() noexcept;
  /// Kills it, and ends at once if that is not allowed.
  void abandon() noexcept;

private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  using Clock = std::chrono::steady_clock;

  struct Output {
    Descriptor descriptor;
    bool is_stderr;
    bool awaited = false;
  };

  void await_output(Output& output);
  void read_output(Output& output);
  void read_what_is_there(Output& output) noexcept;
  std::size_t read_chunk(Output& output, std::size_t limit) noexcept;

  void await_exit();
  void look_for_exit();
  void exited(const ProcessExit& status) noexcept;
  void end_if_complete() noexcept;
  void end() noexcept;

  bool may_signal() noexcept;
  bool signal_group(int signal) noexcept;
  void await_deadline();
  void pass_on(bool is_stderr, std::string_view chunk) noexcept;
  void fault(std::string_view what, std::string_view why) noexcept;
  void fault(std::string_view what, int error) noexcept;
  void call(Callback callback, const ProcessExit& status) noexcept;

  const std::shared_ptr<ProcessChannels> channels_;
  pid_t pid_ = -1;
  bool unwatched_ = false; // taken over, and not begun

  // Of the loop's thread.
  Callback on_exit_; // let go of once called: it may keep alive what waits for this process
  Callback on_end_;
  std::function<void()> gone_;
  Descriptor pidfd_;
  Output out_;
  Output err_;
  boost::asio::steady_timer timer_;
  std::optional<Clock::time_point> kill_at_; // set: it is being stopped
  bool exit_awaited_ = false;
  bool deadline_awaited_ = false;
  bool killed_ = false;
  bool out_of_reach_ = false; // killing it is not allowed
  bool exited_ = false;
  bool over_ = false;

  mutable std::mutex mutex_; // taken alone
  mutable std::condition_variable changed_;
  std::optional<ProcessExit> exit_;
  bool ended_ = false;
};

} // namespace datastream
