#pragma once

#include <expected>
#include <string>

namespace datastream::format {

/// Bytes that are not what the format says. A lack of memory is never reported so: that is
/// `std::bad_alloc`.
struct FormatError {
  std::string what; ///< for people: `checksum of the body differs`
};

template <class T>
using Decoded = std::expected<T, FormatError>;

inline std::unexpected<FormatError> malformed(std::string what) {
  return std::unexpected(FormatError{std::move(what)});
}

} // namespace datastream::format
