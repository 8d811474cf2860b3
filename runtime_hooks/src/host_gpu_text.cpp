#include "host_gpu_text.hpp"

#include "host_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace datastream::host {
namespace {

/// An integer that may be written with a fraction, which is cut off; nothing if it does not fit.
template <class Integer>
std::optional<Integer> to_integer(std::string_view text) {
  constexpr double exact = 9007199254740992.0; // 2^53
  const auto value = to_floating(text);
  if (!value || *value >= exact || *value <= -exact)
    return std::nullopt;
  const auto whole = static_cast<std::int64_t>(*value);
  return std::in_range<Integer>(whole) ? std::optional(static_cast<Integer>(whole)) : std::nullopt;
}

/// Splits a row into `Count` fields. Only the third, a name, may hold commas: what is too much
/// belongs to it.
template <std::size_t Count>
std::optional<std::array<std::string_view, Count>> split_row(std::string_view row) {
  constexpr std::size_t name = 2;
  std::array<std::string_view, Count> fields;
  for (std::size_t i = 0; i < name; ++i) {
    if (!row.contains(','))
      return std::nullopt;
    fields[i] = trim(take_until(row, ','));
  }
  for (std::size_t i = Count - 1; i > name; --i) {
    const auto comma = row.rfind(',');
    if (comma == std::string_view::npos)
      return std::nullopt;
    fields[i] = trim(row.substr(comma + 1));
    row = row.substr(0, comma);
  }
  fields[name] = trim(row);
  return fields;
}

} // namespace

std::vector<GpuRecord> parse_gpus(std::string_view text) {
  std::vector<GpuRecord> gpus;
  text = complete_lines(text);
  while (!text.empty()) {
    const auto row = split_row<9>(take_line(text));
    if (!row)
      continue;
    const auto& f = *row;
    gpus.push_back({to_integer<std::uint32_t>(f[0]), std::string(f[1]), std::string(f[2]),
                    to_integer<std::uint64_t>(f[3]), to_integer<std::uint64_t>(f[4]),
                    to_integer<std::uint32_t>(f[5]), to_integer<std::uint32_t>(f[6]),
                    to_integer<std::int64_t>(f[7]), to_floating(f[8])});
  }
  return gpus;
}

std::vector<GpuProcessRecord> parse_gpu_processes(std::string_view text) {
  std::vector<GpuProcessRecord> processes;
  text = complete_lines(text);
  while (!text.empty()) {
    const auto row = split_row<4>(take_line(text));
    if (!row)
      continue;
    const auto& f = *row;
    processes.push_back({std::string(f[0]), to_integer<std::uint32_t>(f[1]), std::string(f[2]),
                         to_integer<std::uint64_t>(f[3])});
  }
  return processes;
}

} // namespace datastream::host
