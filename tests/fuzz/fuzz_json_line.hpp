#pragma once
/// Arbitrary bytes as a line of JSON that is to be imported: it is a frame or it is none, and what
/// is a frame is written as a line that is the same frame.

#include "json_line.hpp"

#include <datastream/archive/json_lines.hpp>

#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace datastream::fuzz {

inline bool json_line_holds(std::string_view bytes) {
  const auto line = parse_json_line(bytes);
  if (!line)
    return !line.error().empty();
  ArchivedBatch batch;
  batch.frames = FrameBatch::copy_of(line->stream, std::vector{line->frame});
  if (line->arrival)
    batch.arrival = *line->arrival;
  if (line->channel)
    batch.declarations.emplace_back(std::make_shared<const ChannelDescriptor>(
        line->stream, line->frame.channel, *line->channel, std::nullopt, Bytes{}));
  std::ostringstream out;
  JsonLinesWriter(out, "source").write(batch);
  std::string text = out.str();
  if (text.find('\n') != text.size() - 1)
    return false;
  text.pop_back();
  const auto again = parse_json_line(text);
  return again && again->stream == line->stream && again->frame == line->frame &&
         again->channel == line->channel && *again->arrival == batch.arrival;
}

} // namespace datastream::fuzz
