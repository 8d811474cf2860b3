#include "cat.hpp"

#include "failure.hpp"
#include "reading.hpp"

#include <datastream/model/json_text.hpp>
#include <datastream/views/body.hpp>
#include <datastream/views/channel_classifier.hpp>
#include <datastream/views/channel_names.hpp>
#include <datastream/views/grep.hpp>
#include <datastream/views/lines.hpp>
#include <datastream/views/merged_log.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace datastream::tool {

namespace {

/// A stream that is read on without the blocks that turn out to be unreadable.
class Remaining {
public:
  Remaining(ArchivedStream stream, Faults& faults) : stream_(std::move(stream)), faults_(faults) {}

  const ArchivedStream& stream() const { return stream_; }

  /// Calls `read` again, without what an error has named, until it ends without one.
  template <class Read>
  void each_part(Read read) {
    while (true)
      try {
        return read(stream_);
      } catch (const ArchiveReadFailed& failed) {
        leave_out(failed.error());
      }
  }

private:
  void leave_out(const ArchiveError& error) {
    faults_.report(error);
    if (!error.lost || error.lost == left_out_)
      throw Failure(error); // it does not pass
    stream_ = stream_.without(*error.lost);
    left_out_ = error.lost;
  }

  ArchivedStream stream_;
  Faults& faults_;
  std::optional<SequenceRange> left_out_; ///< last
};

/// Shows one stream.
class StreamCat {
public:
  StreamCat(const CatOptions& options, const DatastreamSnapshot& catalog, Remaining remaining,
            Output& out)
      : options_(options), out_(out), remaining_(std::move(remaining)),
        names_(catalog, remaining_.stream().id()),
        kinds_(registry_of(catalog, remaining_.stream().id())), next_(options.positions.lowest) {
    if (options.grep)
      grep_.emplace(*options.grep);
  }

  std::optional<ChannelId> find(const std::string& channel) const { return names_.find(channel); }

  void show_log() {
    if (options_.tail)
      skip_to_last(*options_.tail);
    remaining_.each_part([&](const ArchivedStream& stream) { show_log_of(stream); });
  }

  void show_lines(ChannelId channel) {
    remaining_.each_part([&](const ArchivedStream& stream) { show_lines_of(stream, channel); });
  }

  /// Returns how many frames of the channel are no records.
  std::uint64_t show_series(ChannelId channel);

private:
  /// Passes everything before the last so many frames that are wanted.
  void skip_to_last(std::size_t count);
  void show_log_of(const ArchivedStream& stream);
  void show_lines_of(const ArchivedStream& stream, ChannelId channel);

  bool wants(const LogFrame& entry) const {
    return (options_.channels.empty() ||
            (!entry.frame.name.empty() &&
             std::ranges::find(options_.channels, entry.frame.name) != options_.channels.end())) &&
           (!grep_ || (*grep_)(entry.frame));
  }
  bool is_beyond(Position position) const { return position > options_.positions.highest; }
  /// What is at this position was shown.
  void pass(Position position) {
    next_.value = position.value + 1;
    done_ = position.value == UINT64_MAX;
  }

  const CatOptions& options_;
  Output& out_;
  Remaining remaining_;
  ChannelNames names_;
  ChannelRegistry kinds_;
  std::optional<TextSearch> grep_;
  Position next_;               ///< everything before it was shown
  std::size_t lines_shown_ = 0; ///< that ended in the frame at `next_`
  bool done_ = false;           ///< no position is left
};

void StreamCat::skip_to_last(std::size_t count) {
  const ArchivedStream& stream = remaining_.stream();
  std::deque<Position> found; // the last ones
  // Looks behind ever earlier positions: how far apart those are that are wanted, nobody knows.
  for (std::uint64_t width = count; found.size() < count && !stream.empty();
       width = width > UINT64_MAX / 4 ? UINT64_MAX : 4 * width) {
    const Position lowest = std::max(options_.positions.lowest, *stream.first());
    const Position highest = std::min(options_.positions.highest, *stream.last());
    if (lowest > highest)
      break;
    const bool is_all = width == UINT64_MAX || highest.value - lowest.value < width;
    const Position from = is_all ? lowest : Position{highest.value - width + 1};
    remaining_.each_part([&](const ArchivedStream& part) {
      found.clear();
      for (const LogEntry& entry :
           merged_log_with_names(part, std::cref(kinds_), std::cref(names_), from)) {
        const auto* frame = std::get_if<LogFrame>(&entry);
        if (!frame)
          continue;
        if (is_beyond(frame->frame.position))
          return;
        if (!wants(*frame))
          continue;
        if (found.size() == count)
          found.pop_front();
        found.push_back(frame->frame.position);
      }
    });
    if (is_all)
      break;
  }
  if (found.empty())
    done_ = true;
  else
    next_ = found.front();
}

void StreamCat::show_log_of(const ArchivedStream& stream) {
  for (const LogEntry& entry :
       merged_log_with_names(stream, std::cref(kinds_), std::cref(names_), next_)) {
    if (done_)
      return;
    if (const auto* frame = std::get_if<LogFrame>(&entry)) {
      if (is_beyond(frame->frame.position))
        return;
      if (wants(*frame)) {
        if (options_.raw)
          out_.raw(frame->frame.payload);
        else
          out_.line(to_string(entry));
      }
      pass(frame->frame.position);
    } else if (const auto* gap = std::get_if<GapSpan>(&entry)) {
      if (is_beyond(gap->first))
        return;
      if (!options_.raw && !grep_)
        out_.line(to_string(entry));
      pass(gap->last);
    }
  }
}

void StreamCat::show_lines_of(const ArchivedStream& stream, ChannelId channel) {
  // After an error the frame in which the last line ended is read again: its lines are known.
  std::size_t known = lines_shown_;
  for (const LineEntry& entry : lines(stream, channel, {.keep_escapes = options_.raw}, next_)) {
    if (const auto* line = std::get_if<Line>(&entry)) {
      if (known > 0) {
        --known;
        continue;
      }
      if (is_beyond(line->first))
        return;
      if (!grep_ || (*grep_)({{}, {}, line->text, {}})) {
        if (options_.raw)
          out_.raw(line->text).raw("\n");
        else
          out_.line(line->text);
      }
      lines_shown_ = line->last == next_ ? lines_shown_ + 1 : 1;
      next_ = line->last;
    } else if (const auto* gap = std::get_if<GapSpan>(&entry)) {
      if (is_beyond(gap->first))
        return;
      if (!options_.raw && !grep_)
        out_.line(to_string(LogEntry(*gap)));
      next_.value = gap->last.value + 1;
      lines_shown_ = 0;
    }
  }
}

std::uint64_t StreamCat::show_series(ChannelId channel) {
  std::uint64_t others = 0;
  remaining_.each_part([&](const ArchivedStream& stream) {
    for (const FrameView& frame : stream.frames_from(next_)) {
      if (done_ || is_beyond(frame.position))
        return;
      if (frame.channel == channel && (!grep_ || (*grep_)(frame))) {
        const Body body = decode_body(ChannelKind::Typed, frame.payload);
        if (std::holds_alternative<body::Record>(body)) {
          std::string line = "{\"position\":" + std::to_string(frame.position.value) +
                             ",\"record\":" + to_string(body) + ",\"stream\":";
          append_json_string(line, to_string(stream.id()));
          out_.raw(line).raw("}\n");
        } else {
          ++others;
        }
      }
      pass(frame.position);
    }
  });
  return others;
}

std::vector<StreamId> streams_of(ArchiveReader& reader, const CatOptions& options) {
  if (!options.streams.empty())
    return options.streams;
  std::vector<StreamId> streams;
  for (const ArchivedStreamInfo& info : must(reader.streams(Holes::leave_out)))
    if (info.frames != 0)
      streams.push_back(info.stream);
  return streams;
}

} // namespace

void cat_by_stream(ArchiveReader& reader, const CatOptions& options, Output& out, Faults& faults) {
  report_holes(reader, faults);
  const DatastreamSnapshot catalog = read_catalog(reader, faults)->snapshot().snapshot;
  check_channels(options, catalog);
  const std::vector<StreamId> streams = streams_of(reader, options);
  const bool with_headings = streams.size() > 1 && !options.raw && !options.series;
  std::uint64_t others = 0;
  for (const StreamId& id : streams) {
    StreamCat stream(options, catalog, Remaining(must(reader.stream(id, Holes::leave_out)), faults),
                     out);
    const auto& channel = options.lines ? options.lines : options.series;
    const auto number = channel ? stream.find(*channel) : std::nullopt;
    if (channel && !number)
      continue;
    if (with_headings)
      out.line("== " + to_string(id) + " ==");
    if (options.lines)
      stream.show_lines(*number);
    else if (options.series)
      others += stream.show_series(*number);
    else
      stream.show_log();
  }
  if (others != 0)
    say(std::to_string(others) + " frames of " + *options.series + " are no JSON");
}

} // namespace datastream::tool
