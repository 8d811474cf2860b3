#include "host_net_text.hpp"

#include "host_text.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace datastream::host {

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
    std::array<std::uint64_t, 16> columns{}; // eight received, eight sent
    std::string_view last;
    for (std::uint64_t& column : columns) {
      last = take_word(line);
      column = to_number(last).value_or(0);
    }
    if (name.empty() || last.empty())
      continue;
    interfaces.push_back({std::string(name), columns[0], columns[8], columns[1], columns[9],
                          columns[2], columns[10], columns[3], columns[11]});
  }
  return interfaces;
}

} // namespace datastream::host
