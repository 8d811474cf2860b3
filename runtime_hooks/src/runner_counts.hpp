#pragma once

#include <datastream/hooks/process_channels.hpp>

#include <list>
#include <memory>
#include <mutex>

namespace datastream {

/// What was submitted for all processes of a runner, also for those that have ended or never ran.
///
/// Thread safety: every function may be called from any thread.
class RunnerCounts : public std::enable_shared_from_this<RunnerCounts> {
public:
  /// The same channels, which count here from now on, and as long as they live.
  std::shared_ptr<ProcessChannels> include(std::shared_ptr<ProcessChannels> channels);
  ProcessCounts sum() const;

private:
  using Live = std::list<std::shared_ptr<ProcessChannels>>;

  void retire(Live::iterator channels) noexcept;

  mutable std::mutex mutex_; // held while the counts of channels are read
  Live live_;
  ProcessCounts past_;
};

} // namespace datastream
