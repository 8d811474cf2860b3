#pragma once
/// What node and collector of the word index say to each other besides telemetry, and the records
/// that the node's workers emit.

#include <datastream/record.hpp>

#include <caf/type_id.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace word_index {

/// A file was indexed.
struct FileIndexed {
  static constexpr auto CHANNEL = "index.file";
  std::string path;
  std::uint64_t bytes = 0;
  std::uint32_t lines = 0;
  std::uint32_t words = 0;
};
DATASTREAM_RECORD(FileIndexed, path, bytes, lines, words)

/// The words that one file uses most.
struct TopWords {
  static constexpr auto CHANNEL = "index.words";
  std::map<std::string, std::uint32_t> counts;
};
DATASTREAM_RECORD(TopWords, counts)

} // namespace word_index

CAF_BEGIN_TYPE_ID_BLOCK(word_index, caf::first_custom_type_id)

/// -> `caf::actor`: the node's endpoint.
CAF_ADD_ATOM(word_index, word_index, endpoint_atom, "endpoint")
/// Work may begin: the sender has subscribed to what it wants to see from the start.
CAF_ADD_ATOM(word_index, word_index, start_atom, "start")
/// Work should end.
CAF_ADD_ATOM(word_index, word_index, stop_atom, "stop")
/// -> accepted, refused: what `submit` answered the workers, as they counted it.
CAF_ADD_ATOM(word_index, word_index, tally_atom, "tally")
/// The sender needs the node no more.
CAF_ADD_ATOM(word_index, word_index, done_atom, "done")

CAF_END_TYPE_ID_BLOCK(word_index)
