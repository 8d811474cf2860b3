#pragma once

#include "failure.hpp"

#include <datastream/envelope/carrier.hpp>

#include <utility> // Boost 1.74 forgets it

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <expected>
#include <functional>
#include <string>
#include <thread>

namespace datastream {

/// The thread of one carrier.
class CarrierLoop {
public:
  CarrierLoop() = default;
  ~CarrierLoop() { stop(); }
  CarrierLoop(const CarrierLoop&) = delete;
  CarrierLoop& operator=(const CarrierLoop&) = delete;

  boost::asio::io_context& io() noexcept { return io_; }

  /// Starts the thread. `recover` is called on it, a moment after something threw, to go on.
  std::expected<void, CarrierError> start(std::string name, std::function<void()> recover);
  /// Waits for what runs and ends the thread; nothing runs after it. Not from its own thread.
  void stop() noexcept;
  bool stopping() const noexcept { return io_.stopped(); }

private:
  void run(const std::string& name, const std::function<void()>& recover) noexcept;

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::thread thread_;
};

/// What `open` returns, also where Asio can only throw.
template <class Open>
auto opened(Open open) -> decltype(open()) {
  try {
    return open();
  } catch (const boost::system::system_error& error) {
    return failure(CarrierError::Kind::system, error.what());
  }
}

} // namespace datastream
