#pragma once

#include <datastream/envelope/codec.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace datastream {

/// A maximum that envelopes can keep to, and that their length can say.
constexpr bool is_envelope_max(std::size_t bytes) noexcept {
  return bytes >= envelope_overhead && bytes <= std::numeric_limits<std::uint32_t>::max();
}

} // namespace datastream
