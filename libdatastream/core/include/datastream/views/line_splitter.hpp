#pragma once
/// Lines out of the chunks in which a program's output was read (specification 8.1).

#include <datastream/defaults.hpp>
#include <datastream/model/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace datastream {

/// What a line ended with.
enum class LineEnd : std::uint8_t {
  newline,     ///< LF, or CR and LF
  overwritten, ///< a CR alone: as a progress bar does, what follows was written over it
  split,       ///< nothing: it is longer than the bound, and the next line continues it
  gap,         ///< nothing: what followed is missing
  open,        ///< nothing yet
};

std::string_view to_string(LineEnd end);

struct Line {
  Position first;   ///< of the frame in which it begins
  Position last;    ///< of the frame in which it ends, the same or a later one
  std::string text; ///< without its end; bytes as they are, perhaps NUL or no UTF-8
  LineEnd end = LineEnd::open;
  friend bool operator==(const Line&, const Line&) = default;
};

struct LineOptions {
  /// Whether each state of a line that a CR overwrites is a line of its own; otherwise only the
  /// last one is shown.
  bool keep_overwritten = false;
  /// Whether escape sequences of terminals stay in the text; otherwise they are left out: CSI
  /// (colours, cursor), OSC (titles, links), other control strings, and short ones.
  bool keep_escapes = false;
  /// Longest text of a line; at least 16. A longer one is split, not inside of a character.
  std::size_t bytes = defaults::line_bytes;
};

/// Turns the chunks of one channel, in order, into lines, however the chunks are cut: inside of a
/// line, of CR and LF, of a character or of an escape sequence.
///
///     LineSplitter splitter;
///     Line line;
///     for (const FrameView& frame : chunks) {
///       std::string_view rest = frame.payload;
///       while (splitter.next(frame.position, rest, line))
///         show(line);
///     }
///     if (splitter.finish(LineEnd::open, line))
///       show(line);
///
/// A control string that never ends takes at most the rest of its line. Whatever the input, memory
/// is bounded by `LineOptions::bytes` and every byte is looked at a constant number of times.
/// `lines` does all this for a stored stream.
///
/// Thread safety: one owner.
class LineSplitter {
public:
  explicit LineSplitter(LineOptions options = {});

  /// Takes bytes from the front of `chunk` up to the end of a line and answers true; false: the
  /// chunk is used up and the line goes on. `line` is overwritten, its memory used again.
  bool next(Position position, std::string_view& chunk, Line& line);

  /// Nothing follows, or not what should follow: takes what there is of a line; false if there is
  /// nothing. What comes afterwards begins a new line.
  bool finish(LineEnd end, Line& line);

private:
  enum class Escape : std::uint8_t { none, begun, intermediate, csi, string, string_escape };

  bool is_special(char c) const noexcept;
  bool takes_into_escape(char c) noexcept;
  void touch(Position position) noexcept;
  void append(Position position, std::string_view text);
  void deliver(LineEnd end, Line& line);
  void deliver_piece(Line& line);

  LineOptions options_;
  std::string text_;
  Position first_;
  Position last_;
  Position last_character_; ///< the frame in which the last character of `text_` begins
  bool begun_ = false;      ///< `first_` and `last_` are set
  bool returned_ = false;   ///< a CR was the last to come
  Escape escape_ = Escape::none;
};

} // namespace datastream
