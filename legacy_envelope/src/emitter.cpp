#include <datastream/envelope/emitter.hpp>

#include <datastream/detail/end_pause.hpp>

#include <new>
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
  for (int attempt = 0; events_.mux_->queued() > 0; ++attempt) {
    detail::end_pause(attempt);
    tick();
  }
}

} // namespace datastream
