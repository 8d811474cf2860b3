#include "host_net_text.hpp"

#include "host_text.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace datastream::host {
namespace {

using Counters = std::array<std::uint64_t, 16>; // eight received, eight sent

std::optional<Counters> parse_counters(std::string_view line) {
  Counters counters{};
  for (std::uint64_t& counter : counters) {
    const auto number = to_number(take_word(line));
    if (!number)
      return std::nullopt;
    counter = *number;
  }
  return counters;
}

} // namespace

std::vector<NetInterfaceRecord> parse_net_dev(std::string_view text) {
  std::vector<NetInterfaceRecord> interfaces;
  text = complete_lines(text);
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos)
      continue;
    const std::string_view name = trim(line.substr(0, colon));
    line.remove_prefix(colon + 1);
    const auto counters = parse_counters(line);
    if (name.empty() || !counters)
      continue;
    const Counters& c = *counters;
    interfaces.push_back({std::string(name), c[0], c[8], c[1], c[9], c[2], c[10], c[3], c[11]});
  }
  return interfaces;
}

} // namespace datastream::host
