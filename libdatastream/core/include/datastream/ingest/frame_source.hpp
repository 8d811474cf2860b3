#pragma once
/// What views read: one stream, in position order, wherever it is kept.

#include <datastream/ingest/gap.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/ids.hpp>

#include <concepts>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

namespace datastream {

/// The range of all frames of a source.
template <class Source>
using FramesOf = decltype(std::declval<const Source&>().frames());

/// A `StoredStream`, or a stream of an archive. Its frames ascend by position, without repetition;
/// what a frame refers to must stay valid until its iterator moves on, and no longer. A source that
/// is not at hand as a whole throws where its frames cannot be had: a range that only ended would
/// look like a stream that did.
template <class S>
concept FrameSource =
    std::ranges::input_range<FramesOf<S>> && std::ranges::view<FramesOf<S>> &&
    std::same_as<std::ranges::range_value_t<FramesOf<S>>, FrameView> &&
    std::sentinel_for<std::default_sentinel_t, std::ranges::iterator_t<FramesOf<S>>> &&
    requires(const S& stream, const std::ranges::iterator_t<FramesOf<S>>& at, Position position) {
      { stream.frames_from(position) } -> std::same_as<FramesOf<S>>;
      { stream.first() } -> std::same_as<std::optional<Position>>;
      { stream.evicted() } -> std::same_as<std::optional<EvictedRange>>;
      { at.position() } -> std::same_as<Position>;
    };

} // namespace datastream
