#pragma once

#include "faults.hpp"

#include <expected>
#include <stdexcept>
#include <utility>

namespace datastream::tool {

/// Thrown where a command can do nothing more.
class Failure : public std::runtime_error {
public:
  explicit Failure(const ArchiveError& error) : std::runtime_error(to_text(error)) {}
  explicit Failure(const std::string& what) : std::runtime_error(what) {}
};

/// The value, or a `Failure`.
template <class T>
T must(std::expected<T, ArchiveError> result) {
  if (!result)
    throw Failure(result.error());
  return std::move(*result);
}

} // namespace datastream::tool
