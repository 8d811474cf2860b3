#include <datastream/views/grep.hpp>

#include <datastream/model/utf8.hpp>

namespace datastream {

TextSearch::TextSearch(std::string_view needle)
    : needle_(to_utf8_lossy(needle)),
      needs_replacement_(needle_.find(replacement_character) != std::string::npos) {}

bool TextSearch::operator()(const FrameView& frame) const {
  // A needle that is proper text can only match proper text, and that is the same with and without
  // replacement: no character of UTF-8 begins inside of another one.
  if (!needs_replacement_)
    return frame.payload.find(needle_) != std::string_view::npos;
  return to_utf8_lossy(frame.payload).find(needle_) != std::string::npos;
}

} // namespace datastream
