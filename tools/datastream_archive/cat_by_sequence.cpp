#include "cat.hpp"

#include "failure.hpp"
#include "reading.hpp"

#include <datastream/archive/json_lines.hpp>
#include <datastream/views/channel_classifier.hpp>
#include <datastream/views/grep.hpp>
#include <datastream/views/log_entry.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace datastream::tool {

namespace {

constexpr std::chrono::milliseconds follow_interval{200};

ReadFilter filter_of(const CatOptions& options) {
  ReadFilter filter;
  if (options.streams.size() == 1)
    filter.stream = options.streams.front();
  filter.channels = options.channels;
  filter.lowest = options.positions.lowest;
  filter.highest = options.positions.highest;
  filter.arrived_from = options.since;
  filter.arrived_until = options.until;
  return filter;
}

/// Leaves what the options want of a batch.
void pick(ArchivedBatch& batch, const CatOptions& options, const std::optional<TextSearch>& grep) {
  if (batch.frames.empty())
    return;
  const auto wants_stream =
      options.streams.size() <= 1 ||
      std::ranges::find(options.streams, batch.frames.stream()) != options.streams.end();
  if (wants_stream && !grep && batch.sequence(batch.frames.size() - 1) <= options.to)
    return;
  std::vector<FrameView> wanted;
  std::vector<std::uint32_t> offsets;
  for (std::size_t i = 0; wants_stream && i < batch.frames.size(); ++i) {
    const FrameView frame = batch.frames[i];
    if (batch.sequence(i) > options.to || (grep && !(*grep)(frame)))
      continue;
    wanted.push_back(frame);
    offsets.push_back(static_cast<std::uint32_t>(batch.sequence(i).value - batch.first.value));
  }
  batch.frames = FrameBatch::copy_of(batch.frames.stream(), wanted);
  batch.offsets = std::move(offsets);
}

/// Writes batches for people, or their payloads.
class TextWriter {
public:
  TextWriter(Output& out, bool raw, const DatastreamSnapshot& names) : out_(out), raw_(raw) {
    catalog_.declare_all(names);
  }

  void write(const ArchivedBatch& batch) {
    for (const Declaration& declaration : batch.declarations)
      if (const auto* channel = std::get_if<ChannelDescriptorPtr>(&declaration))
        (void)catalog_.declare_channel(**channel); // the first declaration counts
    if (batch.frames.empty())
      return;
    const std::string stream = to_string(batch.frames.stream());
    const std::string arrival = to_text(batch.arrival);
    for (std::size_t i = 0; i < batch.frames.size(); ++i) {
      LogFrame entry{batch.frames[i]};
      if (raw_) {
        out_.raw(entry.frame.payload);
        continue;
      }
      const auto channel = catalog_.find_channel(batch.frames.stream(), entry.frame.channel);
      if (channel) {
        entry.frame.name = channel->name;
        entry.kind = channel_kind(channel->content);
      }
      std::string line = std::to_string(batch.sequence(i).value);
      for (const std::string& part : {arrival, stream, to_string(LogEntry(entry))})
        line.append(1, ' ').append(part);
      out_.line(line);
    }
  }

private:
  Output& out_;
  bool raw_;
  Catalog catalog_;
};

std::string source_of(ArchiveReader& reader, const CatOptions& options) {
  if (options.source)
    return *options.source;
  // What is damaged was reported with the names.
  const std::string said = must(reader.source(Holes::leave_out));
  return said.empty() ? "archive" : said;
}

} // namespace

void cat_by_sequence(ArchiveReader& reader, const CatOptions& options, Output& out,
                     Faults& faults) {
  Reading reading(reader, filter_of(options), options.from, faults);
  const auto grep = options.grep ? std::optional<TextSearch>(*options.grep) : std::nullopt;
  report_damaged_tip(reader, faults);
  const auto names = read_catalog(reader, faults, options.from);
  const DatastreamSnapshot catalog = names->snapshot().snapshot;
  if (!options.follow) { // which may wait for them
    check_channels(options, catalog);
    for (const StreamId& stream : options.streams)
      (void)must(reader.stream(stream, Holes::leave_out));
  }
  TextWriter text(out, options.raw, catalog);
  JsonLinesWriter json(out.stream(), options.json ? source_of(reader, options) : std::string(),
                       names);
  while (reading.position() <= options.to) {
    auto batch = reading.next(options.follow ? follow_interval : std::chrono::milliseconds{0});
    if (!batch && !options.follow)
      break;
    if (batch) {
      pick(*batch, options, grep);
      if (options.json)
        json.write(*batch);
      else
        text.write(*batch);
    }
    if (options.follow) {
      out.finish();
      if (!out.is_read())
        break;
    }
  }
}

} // namespace datastream::tool
