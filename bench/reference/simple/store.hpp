#pragma once
/// The store as the specification words it: an ordered map of frames for each stream.

#include "reference/simple/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace reference::simple {

/// Frames of one stream, ordered by position.
class StoredStream {
public:
  /// True when the position was new; otherwise the first stored frame stays.
  bool record(Frame frame) { return frames_.try_emplace(frame.position, std::move(frame)).second; }

  const std::map<std::uint64_t, Frame>& frames() const { return frames_; }

private:
  std::map<std::uint64_t, Frame> frames_;
};

/// Used by one thread.
class Store {
public:
  /// True when the stream did not have that position yet.
  bool accept(const StreamId& stream, Frame frame) {
    return streams_[stream].record(std::move(frame));
  }

  const StoredStream& stream(const StreamId& stream) const { return streams_.at(stream); }

private:
  std::map<StreamId, StoredStream> streams_;
};

} // namespace reference::simple
