#pragma once
/// The checksum of everything in the archive's files: XXH3, 64 bits, seed 0.

#include <cstdint>
#include <string_view>

namespace datastream::format {

std::uint64_t checksum(std::string_view bytes) noexcept;
/// Of two parts, as if they were one.
std::uint64_t checksum(std::string_view first, std::string_view second) noexcept;

/// For comparing frames: of a payload and its channel.
std::uint64_t fingerprint(std::uint32_t channel, std::string_view payload) noexcept;

} // namespace datastream::format
