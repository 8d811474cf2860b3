#include <datastream/views/lines.hpp>

namespace datastream {

void Lines::Iterator::find() {
  // Of the entry before, only a line's memory is of use.
  Line* line = std::get_if<Line>(&entry_);
  if (!line)
    line = &entry_.emplace<Line>();

  for (; !splitter_.next(position_, rest_, *line); ++at_) {
    if (at_ == std::default_sentinel) {
      done_ = !splitter_.finish(LineEnd::open, *line);
      return;
    }
    const LogEntry entry = *at_;
    if (const auto* log_frame = std::get_if<LogFrame>(&entry)) {
      if (log_frame->frame.channel == channel_) {
        position_ = log_frame->frame.position;
        rest_ = log_frame->frame.payload;
      }
      continue;
    }
    if (splitter_.finish(LineEnd::gap, *line))
      return; // the gap is next
    if (const auto* gap = std::get_if<GapSpan>(&entry))
      entry_ = *gap;
    else
      entry_ = std::get<EvictedRange>(entry);
    ++at_;
    return;
  }
}

} // namespace datastream
