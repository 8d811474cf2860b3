#pragma once
/// Stored streams to try views on.

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/frame.hpp>

#include <vector>

namespace datastream {

/// A stream that received these frames, in this order.
inline StoredStream stream_of(const std::vector<Frame>& frames, Retention retention = {}) {
  StoredStream stream{{"node-a", {7}}, retention};
  for (const Frame& frame : frames)
    stream.accept(FrameView{frame.channel, frame.position, frame.payload, {}});
  return stream;
}

} // namespace datastream
