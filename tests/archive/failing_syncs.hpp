#pragma once
/// A disk that syncs no segment.

#include "watched_files.hpp"

#include <atomic>

namespace datastream::test {

/// Files of segments that cannot be synced while a test says so.
class FailingSyncs : public FileWatcher {
public:
  std::atomic<bool> failing{false};

private:
  Verdict judge(const FileOperation& operation) override {
    const bool concerned = operation.is(FileOperation::Kind::sync) && operation.of_segment();
    return {concerned && failing ? std::errc::io_error : std::errc{}};
  }
};

} // namespace datastream::test
