#include <datastream/envelope/emitter.hpp>

#include <datastream/defaults.hpp>

#include <new>
#include <thread>
#include <utility>

namespace datastream {

DatastreamEmitter::DatastreamEmitter(EmitterConfig config, std::shared_ptr<FrameSink> sink)
    : events_(std::make_shared<Mux>(StreamId{std::move(config.node), config.life}, config.mux)),
      sink_(std::move(sink)) {}

DatastreamEmitter::~DatastreamEmitter() {
  end_stream();
}

std::size_t DatastreamEmitter::tick() {
  try {
    events_.mux_->drain(drained_);
  } catch (const std::bad_alloc&) {
    // What could not be taken is still queued; what was taken is shipped.
  }
  std::size_t frames = 0;
  for (const FrameBatch& batch : drained_) {
    for (const FrameView& frame : batch)
      sink_->ship(batch.stream(), frame);
    frames += batch.size();
  }
  drained_.clear();
  return frames;
}

void DatastreamEmitter::end_stream() {
  events_.mux_->close();
  tick();
  // What is left is a submission that still copies, for a moment, or a lack of memory, perhaps for
  // long.
  for (int attempt = 0; events_.mux_->queued() > 0; ++attempt) {
    if (attempt < defaults::quick_end_attempts)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(defaults::end_retry);
    tick();
  }
}

} // namespace datastream
