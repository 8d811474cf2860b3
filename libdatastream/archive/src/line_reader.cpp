#include "line_reader.hpp"

#include <algorithm>
#include <istream>

namespace datastream {

LineReader::LineReader(std::istream& in, std::size_t bytes_max)
    : in_(in), bytes_max_(bytes_max), buffer_(std::size_t{64} << 10U, '\0') {}

bool LineReader::next() {
  line_.clear();
  too_long_ = false;
  bool begun = false;
  while (true) {
    if (rest_.empty()) {
      in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
      rest_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(in_.gcount()));
    }
    if (in_.bad() || (rest_.empty() && !begun))
      return false;
    begun = true;
    const auto end = rest_.find('\n');
    const std::string_view part = rest_.substr(0, end);
    const std::size_t room = bytes_max_ - line_.size();
    too_long_ |= part.size() > room;
    line_.append(part.substr(0, room));
    const bool last = rest_.empty();
    rest_.remove_prefix(std::min(part.size() + 1, rest_.size()));
    if (end != std::string_view::npos || last) {
      ++number_;
      return true;
    }
  }
}

} // namespace datastream
