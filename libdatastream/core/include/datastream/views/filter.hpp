#pragma once
/// The stored frames that a caller picks (specification 8.2).

#include <datastream/ingest/frame_source.hpp>
#include <datastream/model/frame.hpp>

#include <concepts>
#include <ranges>
#include <utility>

namespace datastream {

/// The frames that `predicate` accepts, raw and in position order; gaps are not shown. Lazy:
/// refers to the stream, which must outlive it and must not change meanwhile.
template <FrameSource Source, std::predicate<const FrameView&> Predicate>
auto filter(const Source& stream, Predicate predicate) {
  return stream.frames() | std::views::filter(std::move(predicate));
}

} // namespace datastream
