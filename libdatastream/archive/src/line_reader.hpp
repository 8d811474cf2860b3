#pragma once
/// Lines of a stream, of bounded length.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace datastream {

/// Reads line by line. Of a line that is too long no more is kept than the bound.
///
///     LineReader lines(in, 1024);
///     while (lines.next())
///       use(lines.number(), lines.line());
///     if (in.bad())
///       …
class LineReader {
public:
  LineReader(std::istream& in, std::size_t bytes_max);

  /// Goes on to the next line; false at the end, or when the stream has failed: ask it. What
  /// follows the last newline is a line unless it is empty.
  bool next();

  std::string_view line() const noexcept { return line_; } ///< without its end
  bool too_long() const noexcept { return too_long_; }
  std::uint64_t number() const noexcept { return number_; } ///< from 1

private:
  std::istream& in_;
  std::size_t bytes_max_;
  std::string buffer_;    ///< as large as what is read at once
  std::string_view rest_; ///< of the buffer: what was not looked at yet
  std::string line_;
  bool too_long_ = false;
  std::uint64_t number_ = 0;
};

} // namespace datastream
