#pragma once
/// Whether two reconstructions of one stream are alike.

#include "messages.hpp"

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/frame_batch.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>

/// Compares each frame of `other` with the frame that the store has at its position.
word_index::Overlap overlap(const datastream::StoredStream& store,
                            const datastream::FrameBatch& other);

/// Prints one line, of the other reconstruction and a store of so many frames. Returns whether what
/// both have is identical, and at least nine tenths of the shorter one.
bool print_overlap(std::ostream& out, const std::string& other, const word_index::Overlap& overlap,
                   std::uint64_t stored);
