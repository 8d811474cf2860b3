#pragma once
/// The merged log as the specification words it: a list of entries that own what they show.

#include "reference/simple/store.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace reference::simple {

struct MergedFrame {
  std::uint64_t position = 0;
  std::uint32_t channel = 0;
  Bytes body;
};

/// Positions `start` to `end`, both missing.
struct Gap {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

using LogEntry = std::variant<MergedFrame, Gap>;

/// All frames of a stream in order, each gap shown before the frame that follows it.
inline std::vector<LogEntry> merged_log(const StoredStream& stream) {
  std::vector<LogEntry> log;
  log.reserve(stream.frames().size());
  std::optional<std::uint64_t> previous;
  for (const auto& [position, frame] : stream.frames()) {
    if (previous && position != *previous + 1)
      log.emplace_back(Gap{*previous + 1, position - 1});
    log.emplace_back(MergedFrame{position, frame.channel, frame.payload});
    previous = position;
  }
  return log;
}

} // namespace reference::simple
