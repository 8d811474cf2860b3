#include "commands.hpp"
#include "failure.hpp"
#include "reading.hpp"

#include <datastream/archive/archive_reader.hpp>
#include <datastream/pipe/catalog.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace datastream::tool {

namespace {

std::string content_of(const ChannelDescriptor& channel) {
  if (std::holds_alternative<Bytes>(channel.content))
    return "bytes";
  if (std::holds_alternative<TextStream>(channel.content))
    return "text";
  const auto& schema = std::get<JsonRecord>(channel.content).schema;
  return schema ? "records " + *schema : "records";
}

/// One stream, and what its catalog says of it.
struct StreamContents {
  ArchivedStreamInfo info;
  std::optional<std::string> label;
  std::vector<ChannelDescriptor> channels;
};

/// All that is shown, in either form.
struct Contents {
  Sequence last;
  std::string source; ///< empty: nobody said it
  std::vector<std::expected<SegmentInfo, ArchiveError>> segments;
  std::vector<StreamContents> streams;
};

std::vector<StreamContents> contents_of(std::vector<ArchivedStreamInfo> infos,
                                        DatastreamSnapshot catalog) {
  std::map<StreamId, StreamContents*> by_id;
  std::vector<StreamContents> streams;
  streams.reserve(infos.size());
  for (ArchivedStreamInfo& info : infos) {
    streams.push_back({std::move(info), std::nullopt, {}});
    by_id.emplace(streams.back().info.stream, &streams.back());
  }
  for (StreamDescriptor& descriptor : catalog.streams)
    if (const auto stream = by_id.find(descriptor.stream); stream != by_id.end())
      stream->second->label = std::move(descriptor.label);
  for (ChannelDescriptor& channel : catalog.channels)
    if (const auto stream = by_id.find(channel.stream); stream != by_id.end())
      stream->second->channels.push_back(std::move(channel));
  return streams;
}

void write_text(const Contents& contents, Output& out) {
  out.line("durable up to sequence " + std::to_string(contents.last.value));
  if (!contents.source.empty())
    out.line("source " + contents.source);
  for (const auto& segment : contents.segments)
    if (segment)
      out.line(segment->name + (segment->sealed ? " sealed" : " open") + ", " +
               std::to_string(segment->bytes) + " bytes, " + std::to_string(segment->blocks) +
               " blocks, " + std::to_string(segment->frames) + " frames from sequence " +
               std::to_string(segment->first.value));
    else
      out.line(to_text(segment.error()));
  for (const auto& [stream, label, channels] : contents.streams) {
    std::string line = to_string(stream.stream) + ", " + std::to_string(stream.frames) + " frames";
    if (stream.frames != 0)
      line += ", positions " + std::to_string(stream.lowest.value) + " to " +
              std::to_string(stream.highest.value) + ", arrived " + to_text(stream.first_arrival) +
              " to " + to_text(stream.last_arrival);
    line += ", " + std::to_string(stream.missing()) + " missing";
    if (stream.assigned)
      line += ", ended after " + std::to_string(*stream.assigned);
    out.line(line);
    if (label)
      out.line("  " + *label);
    for (const ChannelDescriptor& channel : channels)
      out.line("  channel " + std::to_string(channel.id.value) + " [" + channel.name + "] " +
               content_of(channel));
  }
}

std::int64_t microseconds(Time time) {
  return std::chrono::floor<std::chrono::microseconds>(time).time_since_epoch().count();
}

void write_json(const Contents& contents, Output& out) {
  using Json = nlohmann::ordered_json;
  Json segments = Json::array();
  Json holes = Json::array();
  for (const auto& segment : contents.segments) {
    if (segment) {
      segments.push_back({{"name", segment->name},
                          {"sealed", segment->sealed},
                          {"bytes", segment->bytes},
                          {"blocks", segment->blocks},
                          {"frames", segment->frames},
                          {"first_sequence", segment->first.value}});
      continue;
    }
    const ArchiveError& error = segment.error();
    Json hole = {{"kind", to_string(error.kind)}, {"message", error.message}};
    if (error.lost) {
      hole["first"] = error.lost->first.value;
      hole["last"] = error.lost->last.value;
    }
    holes.push_back(std::move(hole));
  }
  Json streams = Json::array();
  for (const auto& [stream, label, declared] : contents.streams) {
    Json channels = Json::array();
    for (const ChannelDescriptor& channel : declared)
      channels.push_back(
          {{"id", channel.id.value}, {"name", channel.name}, {"content", content_of(channel)}});
    const auto of_frames = [&](auto value) { return stream.frames != 0 ? Json(value) : Json(); };
    streams.push_back({{"stream", to_string(stream.stream)},
                       {"label", label ? Json(*label) : Json()},
                       {"frames", stream.frames},
                       {"lowest", of_frames(stream.lowest.value)},
                       {"highest", of_frames(stream.highest.value)},
                       {"first_arrival_unix_us", of_frames(microseconds(stream.first_arrival))},
                       {"last_arrival_unix_us", of_frames(microseconds(stream.last_arrival))},
                       {"from", stream.from ? Json(stream.from->value) : Json()},
                       {"assigned", stream.assigned ? Json(*stream.assigned) : Json()},
                       {"missing", stream.missing()},
                       {"channels", std::move(channels)}});
  }
  const Json all = {{"last_sequence", contents.last.value},
                    {"source", contents.source.empty() ? Json() : Json(contents.source)},
                    {"segments", std::move(segments)},
                    {"holes", std::move(holes)},
                    {"streams", std::move(streams)}};
  out.raw(all.dump(-1, ' ', false, Json::error_handler_t::replace)).raw("\n");
}

} // namespace

void info(const std::filesystem::path& directory, bool json, Output& out, Faults& faults) {
  ArchiveReader reader = must(ArchiveReader::open(directory));
  report_holes(reader, faults);
  auto catalog = read_catalog(reader, faults)->snapshot().snapshot;
  const Contents contents{reader.last(), must(reader.source(Holes::leave_out)), reader.segments(),
                          contents_of(must(reader.streams(Holes::leave_out)), std::move(catalog))};
  if (json)
    write_json(contents, out);
  else
    write_text(contents, out);
}

} // namespace datastream::tool
