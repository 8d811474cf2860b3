#pragma once
/// The stored frames that contain a text (specification 8.2).

#include <datastream/ingest/frame_source.hpp>
#include <datastream/views/filter.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace datastream {

/// Does a payload, read as UTF-8 with U+FFFD for what is not, contain this text? Plain and case
/// sensitive; the empty text is in every payload. The text itself is read in the same way.
class TextSearch {
public:
  explicit TextSearch(std::string_view needle);
  bool operator()(const FrameView& frame) const;

private:
  std::string needle_;
  bool needs_replacement_; ///< the needle can match what is not UTF-8
};

/// The frames whose payload contains `needle`, of whatever channel; raw, in position order, gaps
/// not shown. Lazy, as `filter`.
template <FrameSource Source>
auto grep(const Source& stream, std::string_view needle) {
  return filter(stream, TextSearch(needle));
}

} // namespace datastream
