#include <datastream/envelope_caf/cluster_frame_sink.hpp>

#include <datastream/caf/send.hpp>
#include <datastream/envelope/codec.hpp>

#include <new>
#include <utility>

namespace datastream {

void ClusterFrameSink::set_sink(caf::actor sink) {
  const std::lock_guard lock(mutex_);
  sink_.swap(sink);
}

void ClusterFrameSink::ship(const StreamId& stream, const FrameView& frame) {
  caf::actor sink;
  {
    const std::lock_guard lock(mutex_);
    sink = sink_;
  }
  try {
    DatastreamFrame message;
    if (sink && encode_envelope(message.payload, stream, frame)) {
      compat::anon_send(sink, std::move(message));
      ++sent_;
      return;
    }
  } catch (const std::bad_alloc&) {
    // Counted like everything that is not sent.
  }
  ++dropped_;
}

} // namespace datastream
