#pragma once
/// Everything that is stored of a stream, in position order, with what is missing shown where it
/// is missing (specification 8.2, 8.3).

#include <datastream/ingest/frame_source.hpp>
#include <datastream/ingest/stored_stream.hpp>
#include <datastream/views/channel_classifier.hpp>
#include <datastream/views/channel_names.hpp>
#include <datastream/views/log_entry.hpp>

#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <utility>

namespace datastream {

/// A lazy range of `LogEntry`: forward over a `StoredStream`, input over a stream of an archive.
/// Refers to the stream, which must outlive it and must not change meanwhile. `Describe` makes a
/// `LogFrame` of each `FrameView`.
///
///     for (const LogEntry& entry : merged_log(stream))
///       std::cout << entry << '\n';
///
/// Thread safety: several logs of one stream may be read at once.
template <FrameSource Source, class Describe>
class MergedLog : public std::ranges::view_interface<MergedLog<Source, Describe>> {
public:
  class Iterator;

  /// `from`: where to begin; a gap that reaches back beyond it is shown from there on.
  MergedLog(const Source& stream, Describe describe, Position from = {})
      : stream_(&stream), describe_(std::move(describe)), from_(from) {}

  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

private:
  const Source* stream_;
  Describe describe_;
  Position from_;
};

template <FrameSource Source, class Describe>
class MergedLog<Source, Describe>::Iterator {
  using FrameIterator = std::ranges::iterator_t<FramesOf<Source>>;
  static constexpr bool is_forward = std::forward_iterator<FrameIterator>;

public:
  using iterator_concept =
      std::conditional_t<is_forward, std::forward_iterator_tag, std::input_iterator_tag>;
  using iterator_category = std::input_iterator_tag;
  using value_type = LogEntry;
  using difference_type = std::ptrdiff_t;
  using reference = LogEntry;

  Iterator() = default;
  explicit Iterator(const MergedLog& log)
      : log_(&log), at_(log.stream_->frames_from(log.from_).begin()), expected_(log.from_) {
    const auto evicted = log.stream_->evicted();
    if (evicted && evicted->end > log.from_) {
      next_ = Next::evicted;
      expected_ = evicted->end;
      return;
    }
    // Before the first frame that was ever stored nothing is a gap.
    if (at_ != std::default_sentinel && !evicted && *log.stream_->first() >= log.from_)
      expected_ = at_.position();
    next_ = gap_or_frame();
  }

  LogEntry operator*() const {
    if (next_ == Next::frame) [[likely]]
      return log_->describe_(*at_);
    if (next_ == Next::gap)
      return GapSpan{expected_, {at_.position().value - 1}};
    return *log_->stream_->evicted();
  }

  Iterator& operator++() {
    if (next_ == Next::frame) [[likely]] {
      expected_.value = at_.position().value + 1;
      ++at_;
      next_ = gap_or_frame();
    } else {
      next_ = next_ == Next::gap ? Next::frame : gap_or_frame();
    }
    return *this;
  }
  Iterator operator++(int)
    requires is_forward
  {
    Iterator before = *this;
    ++*this;
    return before;
  }
  void operator++(int) { ++*this; }

  bool operator==(const Iterator& other) const
    requires is_forward
  {
    return at_ == other.at_ && next_ == other.next_;
  }
  bool operator==(std::default_sentinel_t) const { return next_ == Next::end; }

private:
  enum class Next { end, frame, gap, evicted };

  Next gap_or_frame() const {
    if (at_ == std::default_sentinel)
      return Next::end;
    return at_.position() == expected_ ? Next::frame : Next::gap;
  }

  const MergedLog* log_ = nullptr;
  FrameIterator at_;
  Position expected_; ///< that of the frame at `at_`, if none is missing in front of it
  Next next_ = Next::end;
};

/// The log without names: every body is raw.
template <FrameSource Source>
auto merged_log(const Source& stream, Position from = {}) {
  return MergedLog(stream, [](const FrameView& frame) { return LogFrame{frame}; }, from);
}

/// The log with names and decoded bodies. A channel without name is raw. `classify` and
/// `resolve_name` are copied: pass large ones by `std::cref`.
template <FrameSource Source, ChannelClassifier Classify, NameResolver Resolve>
auto merged_log_with_names(const Source& stream, Classify classify, Resolve resolve_name,
                           Position from = {}) {
  auto describe = [classify = std::move(classify),
                   resolve = std::move(resolve_name)](FrameView frame) {
    const std::optional<std::string_view> name = resolve(frame.channel);
    if (!name)
      return LogFrame{frame};
    frame.name = *name;
    return LogFrame{frame, classify(*name)};
  };
  return MergedLog(stream, std::move(describe), from);
}

/// The raw timeline, to be walked once more (specification 8.2).
template <FrameSource Source>
auto replay(const Source& stream) {
  return merged_log(stream);
}

} // namespace datastream
