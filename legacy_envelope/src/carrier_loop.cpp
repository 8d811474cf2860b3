#include "carrier_loop.hpp"
#include "failure.hpp"

#include <datastream/detail/signals_blocked.hpp>
#include <datastream/log_sink.hpp>

#include <chrono>
#include <exception>
#include <system_error>

namespace datastream {
namespace {

/// What threw, for want of memory most likely, gets so long to pass.
constexpr std::chrono::milliseconds pause{100};

} // namespace

std::expected<void, CarrierError> CarrierLoop::start(std::string name,
                                                     std::function<void()> recover) {
  try {
    const detail::SignalsBlocked blocked;
    thread_ = std::thread(
        [this, name = std::move(name), recover = std::move(recover)] { run(name, recover); });
    return {};
  } catch (const std::system_error& error) {
    return failure(CarrierError::Kind::system,
                   std::string("cannot start a thread: ") + error.what());
  }
}

void CarrierLoop::stop() noexcept {
  io_.stop();
  if (thread_.joinable())
    thread_.join();
}

void CarrierLoop::run(const std::string& name, const std::function<void()>& recover) noexcept {
  for (bool failed = false; !io_.stopped();) {
    try {
      if (std::exchange(failed, false)) {
        std::this_thread::sleep_for(pause);
        recover();
      }
      io_.run();
    } catch (const std::exception& error) {
      failed = true;
      try {
        log_message(LogSeverity::error, name + ": " + error.what());
      } catch (const std::exception&) { // there is no memory for the text either
      }
    }
  }
}

} // namespace datastream
