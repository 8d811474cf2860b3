#pragma once
/// The values of the simple reference: every frame owns its bytes.

#include "reference/bytes.hpp"

#include <compare>
#include <cstdint>
#include <string>

namespace reference::simple {

struct StreamId {
  std::string node;
  std::uint64_t life = 0;
  friend auto operator<=>(const StreamId&, const StreamId&) = default;
};

struct Frame {
  std::uint32_t channel = 0;
  std::uint64_t position = 0;
  Bytes payload;
};

} // namespace reference::simple
