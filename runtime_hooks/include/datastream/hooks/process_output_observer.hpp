#pragma once
/// What a process runner says about the output of its children (specification 4.3).

#include <string_view>

namespace datastream {

/// Called by whoever reads the output of child processes.
class ProcessOutputObserver {
public:
  virtual ~ProcessOutputObserver() = default;
  /// One chunk, as it was read: any bytes, cut anywhere. Called on the thread that has read it:
  /// must not block, must not throw. `data` is valid during the call.
  virtual void on_output(std::string_view label, bool is_stderr, std::string_view data) = 0;
};

} // namespace datastream
