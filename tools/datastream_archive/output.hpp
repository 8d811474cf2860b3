#pragma once
/// Where results go: standard output, with its errors noticed.

#include <array>
#include <ostream>
#include <streambuf>
#include <string_view>
#include <system_error>

namespace datastream::tool {

/// Thrown when nobody reads the results any more: there is nothing left to do, and nothing wrong.
struct NobodyReads {};

/// Bytes on their way to a file descriptor. Throws `std::system_error` when they cannot be written,
/// and `NobodyReads` when they go to a pipe that is closed.
class DescriptorBuffer : public std::streambuf {
public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {
    setp(bytes_.data(), bytes_.data() + bytes_.size());
  }

private:
  int_type overflow(int_type next) override;
  int sync() override;

  int descriptor_;
  std::array<char, 1U << 16U> bytes_;
};

/// Standard output. Everything was written once `finish` has returned.
class Output {
public:
  Output();

  std::ostream& stream() { return stream_; }
  /// As it is.
  Output& raw(std::string_view bytes);
  /// For people: see `printable`.
  Output& text(std::string_view text);
  Output& line(std::string_view text) { return this->text(text).raw("\n"); }

  void finish() { stream_.flush(); }
  /// Whether somebody may still read what will be written.
  bool is_read() const;

private:
  DescriptorBuffer buffer_;
  std::ostream stream_;
};

} // namespace datastream::tool
