#pragma once
/// Records over time: what a channel's frames say, by position (specification 8.2, 8.4).

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
template <Record R>
class MetricSeries : public std::ranges::view_interface<MetricSeries<R>> {
public:
  class Iterator;

  MetricSeries(const StoredStream& stream, std::optional<ChannelId> channel)
      : stream_(&stream), channel_(channel) {}

  Iterator begin() const { return Iterator(stream_->frames(), channel_); }
  std::default_sentinel_t end() const { return {}; }

private:
  const StoredStream* stream_;
  std::optional<ChannelId> channel_;
};

template <Record R>
class MetricSeries<R>::Iterator {
public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = MetricPoint<R>;
  using difference_type = std::ptrdiff_t;

  Iterator(StoredStream::Frames frames, std::optional<ChannelId> channel)
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

  StoredStream::Iterator at_;
  StoredStream::Iterator end_;
  std::optional<ChannelId> channel_;
  std::optional<MetricPoint<R>> point_; ///< of the frame at `at_`
};

/// The records of one channel.
template <Record R>
MetricSeries<R> metric_series_on(const StoredStream& stream, ChannelId channel) {
  return {stream, channel};
}

/// The frames of any channel that decode as this record. A record whose fields all have defaults
/// decodes every JSON object: prefer `metric_series_on`.
template <Record R>
MetricSeries<R> metric_series(const StoredStream& stream) {
  return {stream, std::nullopt};
}

} // namespace datastream
