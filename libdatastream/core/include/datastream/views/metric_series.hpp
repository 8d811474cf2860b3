#pragma once
/// Records over time: what a channel's frames say, by position (specification 8.2, 8.4).

#include <datastream/ingest/frame_source.hpp>
#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/record.hpp>

#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

namespace datastream {

template <Record R>
struct MetricPoint {
  Position position;
  R record;
};

/// A lazy input range of `MetricPoint<R>`, in position order. Frames that do not decode are
/// skipped. Refers to the stream, which must outlive it and must not change meanwhile.
template <Record R, FrameSource Source = StoredStream>
class MetricSeries : public std::ranges::view_interface<MetricSeries<R, Source>> {
public:
  class Iterator;

  MetricSeries(const Source& stream, std::optional<ChannelId> channel)
      : stream_(&stream), channel_(channel) {}

  Iterator begin() const { return Iterator(stream_->frames(), channel_); }
  std::default_sentinel_t end() const { return {}; }

private:
  const Source* stream_;
  std::optional<ChannelId> channel_;
};

template <Record R, FrameSource Source>
class MetricSeries<R, Source>::Iterator {
public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = MetricPoint<R>;
  using difference_type = std::ptrdiff_t;

  Iterator(FramesOf<Source> frames, std::optional<ChannelId> channel)
      : at_(frames.begin()), end_(frames.end()), channel_(channel) {
    find();
  }

  const MetricPoint<R>& operator*() const { return *point_; }
  const MetricPoint<R>* operator->() const { return &*point_; }
  Iterator& operator++() {
    ++at_;
    find();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return at_ == end_; }

private:
  /// Goes to the first frame, from here on, that is a point of the series.
  void find() {
    for (; at_ != end_; ++at_) {
      const FrameView frame = *at_;
      if (channel_ && frame.channel != *channel_)
        continue;
      if (auto record = decode_record<R>(frame.payload)) {
        point_.emplace(frame.position, std::move(*record));
        return;
      }
    }
  }

  std::ranges::iterator_t<FramesOf<Source>> at_;
  std::ranges::sentinel_t<FramesOf<Source>> end_;
  std::optional<ChannelId> channel_;
  std::optional<MetricPoint<R>> point_; ///< of the frame at `at_`
};

/// The records of one channel.
template <Record R, FrameSource Source>
MetricSeries<R, Source> metric_series_on(const Source& stream, ChannelId channel) {
  return {stream, channel};
}

/// The frames of any channel that decode as this record. A record whose fields all have defaults
/// decodes every JSON object: prefer `metric_series_on`.
template <Record R, FrameSource Source>
MetricSeries<R, Source> metric_series(const Source& stream) {
  return {stream, std::nullopt};
}

} // namespace datastream
