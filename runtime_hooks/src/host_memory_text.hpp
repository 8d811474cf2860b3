#pragma once
/// Reads `/proc/meminfo` and `/proc/pressure/*`.

#include <datastream/records/pressure.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace datastream::host {

struct MemoryInfo {
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> available_bytes;
  std::optional<std::uint64_t> used_bytes;
  std::optional<std::uint64_t> cached_bytes;
  std::optional<std::uint64_t> swap_total_bytes;
  std::optional<std::uint64_t> swap_used_bytes;
};

/// What is absent, or less than what it should contain, is not derived.
MemoryInfo parse_memory_info(std::string_view text);

/// Nothing without a whole line `some`.
std::optional<PressureRecord> parse_pressure(std::string_view text);

} // namespace datastream::host
