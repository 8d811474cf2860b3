#pragma once
/// Process output as frames of an emitter's stream. Only where `datastream::hooks` is built.

#include <datastream/envelope/emitter.hpp>
#include <datastream/hooks/process_output_observer.hpp>
#include <datastream/model/ids.hpp>

#include <functional>
#include <memory>
#include <string_view>

namespace datastream {

/// (label, is_stderr) -> a channel. Called for each chunk, on the thread that has read it: must not
/// block, must not throw.
using ProcessRoute = std::function<ChannelId(std::string_view label, bool is_stderr)>;

/// An observer that submits each chunk as one frame, on the channel that `route` names. What the
/// mux refuses is dropped, and counted with the rest (`DatastreamEmitter::dropped`).
///
///     auto observer = process_observer(emitter.event_sink(), [](std::string_view, bool is_stderr)
///     {
///       return is_stderr ? ChannelId{2} : ChannelId{1};
///     });
///
/// A compatibility surface: new code uses `ProcessChannels`, or `ProducerOutputObserver`, which
/// counts by channel. Thread safety: as of the event sink, if `route` may be called from any
/// thread.
std::shared_ptr<ProcessOutputObserver> process_observer(DatastreamEventSink events,
                                                        ProcessRoute route);

} // namespace datastream
