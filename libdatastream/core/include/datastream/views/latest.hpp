#pragma once
/// The state of a channel: its last word (specification 8.4).

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/ids.hpp>

#include <optional>

namespace datastream {

/// The stored frame with the highest position on this channel. Walks back from the end of the
/// stream; refers to its memory. For a stream of an archive, load its last frames first
/// (`ArchivedStream::load_last`), more of them if the channel is not among them.
std::optional<FrameView> latest(const StoredStream& stream, ChannelId channel);

} // namespace datastream
