#include <datastream/archive/json_lines.hpp>

#include "json_line.hpp"

#include <datastream/model/json_text.hpp>
#include <datastream/model/utf8.hpp>

#include <chrono>
#include <ostream>
#include <utility>
#include <variant>

namespace datastream {

namespace {

void append_bytes(std::string& out, std::string_view bytes) {
  out += '[';
  for (const char byte : bytes) {
    append_json_integer(out, std::uint64_t{static_cast<unsigned char>(byte)});
    out += ',';
  }
  close_json(out, ']');
}

/// A name; and its bytes, where they are not what the text says.
void append_name(std::string& out, std::string_view key, std::string_view name) {
  (out += '"').append(key).append("\":");
  append_json_string(out, name);
  out += ',';
  if (is_utf8(name))
    return;
  (out += '"').append(key).append("_bytes\":");
  append_bytes(out, name);
  out += ',';
}

} // namespace

JsonLinesWriter::JsonLinesWriter(std::ostream& out, std::string source,
                                 std::shared_ptr<const Catalog> names)
    : out_(out), names_(std::move(names)) {
  append_json_string(source_, source);
}

void JsonLinesWriter::write(const ArchivedBatch& batch) {
  for (const Declaration& declaration : batch.declarations)
    if (const auto* channel = std::get_if<ChannelDescriptorPtr>(&declaration))
      learnt_.declare_channel(**channel); // of conflicting ones the first stays
  const auto arrival = std::chrono::floor<std::chrono::milliseconds>(batch.arrival);
  std::size_t index = 0;
  for (const FrameView& frame : batch.frames) {
    line_ = "{\"arrival_seq\":";
    append_json_integer(line_, batch.sequence(index++).value);
    line_ += ",\"arrival_unix_ms\":";
    append_json_integer(line_, std::int64_t{arrival.time_since_epoch().count()});
    line_ += ',';
    auto channel = names_ ? names_->find_channel(batch.frames.stream(), frame.channel) : nullptr;
    if (!channel)
      channel = learnt_.find_channel(batch.frames.stream(), frame.channel);
    append_name(line_, "channel", channel ? channel->name : unknown_channel_name(frame.channel));
    line_ += "\"channel_id\":";
    append_json_integer(line_, std::uint64_t{frame.channel.value});
    if (is_utf8(frame.payload)) {
      line_ += ",\"payload\":{\"encoding\":\"utf8\",\"value\":";
      append_json_string(line_, frame.payload);
    } else {
      line_ += ",\"payload\":{\"encoding\":\"bytes\",\"value\":";
      append_bytes(line_, frame.payload);
    }
    line_ += "},\"position\":";
    append_json_integer(line_, frame.position.value);
    line_ += ",\"source\":";
    line_ += source_;
    line_ += ',';
    append_name(line_, "stream", to_string(batch.frames.stream()));
    close_json(line_, '}');
    line_ += '\n';
    out_.write(line_.data(), static_cast<std::streamsize>(line_.size()));
  }
}

} // namespace datastream
