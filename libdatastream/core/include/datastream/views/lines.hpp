#pragma once
/// The output of a program, line by line (specification 8.1, 8.3).

#include <datastream/ingest/frame_source.hpp>
#include <datastream/ingest/gap.hpp>
#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/views/line_splitter.hpp>
#include <datastream/views/merged_log.hpp>

#include <cstddef>
#include <iterator>
#include <ranges>
#include <string_view>
#include <utility>
#include <variant>

namespace datastream {

/// A line; or positions of the stream that are missing there, which may have held more of this
/// channel; or what retention removed in front of it all.
using LineEntry = std::variant<Line, GapSpan, EvictedRange>;

/// A lazy input range of `LineEntry` over the chunks of one channel. A line is never joined over a
/// gap: it ends there, and what follows begins a new one. Refers to the stream, which must outlive
/// it and must not change meanwhile.
///
///     for (const LineEntry& entry : lines(stream, stdout_channel))
///       if (const Line* line = std::get_if<Line>(&entry))
///         std::cout << line->first << ' ' << line->text << '\n';
///
/// Thread safety: several may be read at once.
template <FrameSource Source>
class LinesOf : public std::ranges::view_interface<LinesOf<Source>> {
public:
  class Iterator;

  LinesOf(const Source& stream, ChannelId channel, LineOptions options, Position from)
      : log_(merged_log(stream, from)), channel_(channel), options_(options) {}

  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

private:
  using Log = decltype(merged_log(std::declval<const Source&>()));

  Log log_;
  ChannelId channel_;
  LineOptions options_;
};

template <FrameSource Source>
class LinesOf<Source>::Iterator {
public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = LineEntry;
  using difference_type = std::ptrdiff_t;

  explicit Iterator(const LinesOf& lines)
      : at_(lines.log_.begin()), channel_(lines.channel_), splitter_(lines.options_) {
    find();
  }

  const LineEntry& operator*() const { return entry_; }
  const LineEntry* operator->() const { return &entry_; }
  Iterator& operator++() {
    find();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return done_; }

private:
  /// Makes the next entry, or finds that there is none.
  void find();

  std::ranges::iterator_t<const Log> at_;
  bool taken_ = false; ///< the entry at `at_` was looked at; `rest_` may be a part of it
  ChannelId channel_;
  LineSplitter splitter_;
  Position position_; ///< of the frame that `rest_` is the rest of
  std::string_view rest_;
  LineEntry entry_;
  bool done_ = false;
};

template <FrameSource Source>
void LinesOf<Source>::Iterator::find() {
  // Of the entry before, only a line's memory is of use.
  Line* line = std::get_if<Line>(&entry_);
  if (!line)
    line = &entry_.template emplace<Line>();

  while (!splitter_.next(position_, rest_, *line)) {
    if (std::exchange(taken_, false))
      ++at_;
    if (at_ == std::default_sentinel) {
      done_ = !splitter_.finish(LineEnd::open, *line);
      return;
    }
    const LogEntry entry = *at_;
    if (const auto* log_frame = std::get_if<LogFrame>(&entry)) {
      taken_ = true;
      if (log_frame->frame.channel == channel_) {
        position_ = log_frame->frame.position;
        rest_ = log_frame->frame.payload;
      }
      continue;
    }
    if (splitter_.finish(LineEnd::gap, *line))
      return; // the gap is next
    taken_ = true;
    if (const auto* gap = std::get_if<GapSpan>(&entry))
      entry_ = *gap;
    else
      entry_ = std::get<EvictedRange>(entry);
    return;
  }
}

using Lines = LinesOf<StoredStream>;

/// The lines of a channel. Standard output and standard error are channels of their own, without
/// an order between them. `from`: where to begin; that may be inside of a line.
template <FrameSource Source>
LinesOf<Source> lines(const Source& stream, ChannelId channel, LineOptions options = {},
                      Position from = {}) {
  return {stream, channel, options, from};
}

} // namespace datastream
