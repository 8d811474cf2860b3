#include <datastream/views/line_splitter.hpp>

#include <datastream/model/utf8.hpp>

#include <algorithm>
#include <utility>

namespace datastream {
namespace {

constexpr char escape_byte = '\x1b';

bool is_between(char c, char low, char high) noexcept {
  return c >= low && c <= high;
}

} // namespace

std::string_view to_string(LineEnd end) {
  switch (end) {
  case LineEnd::newline:
    return "newline";
  case LineEnd::overwritten:
    return "overwritten";
  case LineEnd::split:
    return "split";
  case LineEnd::gap:
    return "gap";
  case LineEnd::open:
    return "open";
  }
  return "unknown";
}

LineSplitter::LineSplitter(LineOptions options) : options_(options) {
  options_.bytes = std::max<std::size_t>(options_.bytes, 16);
}

bool LineSplitter::next(Position position, std::string_view& chunk, Line& line) {
  while (!chunk.empty()) {
    const char c = chunk.front();
    if (escape_ != Escape::none && takes_into_escape(c)) {
      touch(position);
      chunk.remove_prefix(1);
      continue;
    }
    if (c == '\n') {
      touch(position);
      chunk.remove_prefix(1);
      deliver(LineEnd::newline, line);
      return true;
    }
    if (is_special(c)) {
      touch(position);
      chunk.remove_prefix(1);
      if (c == '\r')
        returned_ = true;
      else
        escape_ = Escape::begun;
      continue;
    }
    if (std::exchange(returned_, false)) {
      if (options_.keep_overwritten && !text_.empty()) {
        deliver(LineEnd::overwritten, line);
        return true;
      }
      text_.clear();
      begun_ = false;
    }
    if (text_.size() >= options_.bytes) {
      deliver_piece(line);
      return true;
    }
    const std::string_view room = chunk.substr(0, options_.bytes - text_.size());
    const auto end = std::ranges::find_if(room, [this](char b) { return is_special(b); });
    const auto length = static_cast<std::size_t>(end - room.begin());
    append(position, room.substr(0, length));
    chunk.remove_prefix(length);
  }
  return false;
}

bool LineSplitter::finish(LineEnd end, Line& line) {
  const bool any = !text_.empty();
  if (any)
    deliver(end, line);
  begun_ = false;
  returned_ = false;
  escape_ = Escape::none;
  return any;
}

bool LineSplitter::is_special(char c) const noexcept {
  return c == '\n' || c == '\r' || (c == escape_byte && !options_.keep_escapes);
}

/// Whether this byte belongs to the sequence that was begun. If not, the sequence has broken off.
bool LineSplitter::takes_into_escape(char c) noexcept {
  constexpr char bell = '\a', cancel = '\x18', substitute = '\x1a';
  // An end of a line ends every sequence, so that none swallows the lines that follow.
  if (c == '\n' || c == '\r') {
    escape_ = Escape::none;
    return false;
  }
  if (c == cancel || c == substitute) {
    escape_ = Escape::none;
    return true;
  }
  if (c == escape_byte) {
    const bool in_string = escape_ == Escape::string;
    escape_ = in_string ? Escape::string_escape : Escape::begun;
    return true;
  }
  if (escape_ == Escape::string_escape) {
    if (c == '\\') {
      escape_ = Escape::none;
      return true;
    }
    escape_ = Escape::begun; // the escape did not end the string but began another sequence
  }
  switch (escape_) {
  case Escape::begun:
    if (c == '[')
      escape_ = Escape::csi;
    else if (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_')
      escape_ = Escape::string;
    else if (is_between(c, ' ', '/'))
      escape_ = Escape::intermediate;
    else {
      escape_ = Escape::none;
      return is_between(c, '0', '~');
    }
    return true;
  case Escape::intermediate:
    if (is_between(c, ' ', '/'))
      return true;
    escape_ = Escape::none;
    return is_between(c, '0', '~');
  case Escape::csi:
    if (is_between(c, ' ', '?'))
      return true;
    escape_ = Escape::none;
    return is_between(c, '@', '~');
  case Escape::string:
    if (c == bell)
      escape_ = Escape::none;
    return true;
  case Escape::string_escape:
  case Escape::none:
    break;
  }
  return false;
}

void LineSplitter::touch(Position position) noexcept {
  if (!std::exchange(begun_, true))
    first_ = position;
  last_ = position;
}

void LineSplitter::append(Position position, std::string_view text) {
  touch(position);
  text_ += text;
  const std::string_view end = text.substr(text.size() - std::min<std::size_t>(text.size(), 3));
  if (!std::ranges::all_of(end, continues_character))
    last_character_ = position;
}

void LineSplitter::deliver(LineEnd end, Line& line) {
  line.first = first_;
  line.last = last_;
  line.end = end;
  std::swap(line.text, text_);
  text_.clear();
  begun_ = false;
  returned_ = false;
}

void LineSplitter::deliver_piece(Line& line) {
  const Position rest_first = last_character_;
  const Position rest_last = last_;
  const std::size_t cut = whole_characters(text_).size();
  deliver(LineEnd::split, line);
  if (cut == line.text.size())
    return;
  text_.assign(line.text, cut);
  line.text.resize(cut);
  touch(rest_first);
  touch(rest_last);
}

} // namespace datastream
