#pragma once
/// Submitting as logging: an asynchronous spdlog logger that overwrites its oldest messages, with
/// a sink that throws them away.

#include <spdlog/async.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace reference::log {

/// A null sink that counts.
class CountingSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
  std::uint64_t messages() const { return messages_; }

protected:
  void sink_it_(const spdlog::details::log_msg&) override { ++messages_; }
  void flush_() override {}

private:
  std::uint64_t messages_ = 0;
};

/// Any thread submits.
class AsyncLog {
public:
  /// `on_thread_start` runs first on the logger's own thread.
  AsyncLog(std::size_t capacity, std::function<void()> on_thread_start)
      : sink_(std::make_shared<CountingSink>()),
        pool_(std::make_shared<spdlog::details::thread_pool>(capacity, 1, on_thread_start)),
        logger_(std::make_shared<spdlog::async_logger>(
            "log", sink_, pool_, spdlog::async_overflow_policy::overrun_oldest)) {}

  void submit(std::string_view payload) {
    logger_->log(spdlog::level::info, spdlog::string_view_t(payload.data(), payload.size()));
  }

  /// Waits until the queue is empty; nothing is submitted afterwards.
  void finish() {
    overrun_ = pool_->overrun_counter();
    logger_.reset();
    pool_.reset();
  }

  /// After `finish`: messages that reached the sink, and those that were overwritten before.
  std::uint64_t written() const { return sink_->messages(); }
  std::uint64_t overrun() const { return overrun_; }

private:
  std::shared_ptr<CountingSink> sink_;
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<spdlog::async_logger> logger_;
  std::uint64_t overrun_ = 0;
};

} // namespace reference::log
