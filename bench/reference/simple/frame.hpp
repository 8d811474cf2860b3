#pragma once
/// The values of the simple reference: every frame owns its bytes.

#include "reference/bytes.hpp"

#include <compare>
#include <cstdint>
#include <memory>
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

/// A frame on its way to one subscriber. The stream's name is shared, the payload is not.
struct Delivery {
  std::shared_ptr<const StreamId> stream;
  Frame frame;
};

} // namespace reference::simple
