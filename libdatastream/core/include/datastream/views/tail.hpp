#pragma once
/// The last frames of a stream (specification 8.2).

#include <datastream/ingest/stored_stream.hpp>

#include <cstddef>

namespace datastream {

/// The last `count` stored frames, or all if there are fewer; raw, in position order, gaps not
/// shown. Refers to the stream, which must outlive it and must not change meanwhile. It walks
/// back, which a stream of an archive cannot: there, `ArchivedStream::load_last` is the tail.
StoredStream::Frames tail(const StoredStream& stream, std::size_t count);

} // namespace datastream
