#pragma once
/// Output of a program, cut anywhere: its lines must be those of the whole.
///
/// Input: one byte of options, one byte from which the cuts follow; the rest is the output.

#include <datastream/views/line_splitter.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace datastream::fuzz {

/// Text and end of each line of `output`, read in chunks whose sizes follow from `seed`; 0: at
/// once.
inline std::vector<std::pair<std::string, LineEnd>>
lines_in_chunks(std::string_view output, const LineOptions& options, std::uint32_t seed) {
  LineSplitter splitter(options);
  std::vector<std::pair<std::string, LineEnd>> lines;
  Line line;
  for (std::uint64_t position = 0; !output.empty(); ++position) {
    const std::size_t size = seed == 0 ? output.size() : seed % 7;
    seed = seed * 1664525U + 1013904223U;
    std::string_view chunk = output.substr(0, size);
    output.remove_prefix(chunk.size());
    while (splitter.next({position}, chunk, line)) {
      if (line.last.value > position || line.first.value > line.last.value)
        return {{"positions", LineEnd::gap}};
      lines.emplace_back(line.text, line.end);
    }
  }
  if (splitter.finish(LineEnd::open, line))
    lines.emplace_back(line.text, line.end);
  return lines;
}

inline bool lines_hold(std::string_view input) {
  if (input.size() < 2)
    return true;
  const auto bits = static_cast<std::uint8_t>(input[0]);
  const auto seed = static_cast<std::uint8_t>(input[1]);
  const std::string_view output = input.substr(2);
  const LineOptions options{(bits & 1U) != 0, (bits & 2U) != 0, std::size_t{bits} >> 2U};

  const auto whole = lines_in_chunks(output, options, 0);
  const std::size_t bound = options.bytes < 16 ? 16 : options.bytes;
  std::size_t bytes = 0;
  for (const auto& [text, end] : whole) {
    bytes += text.size() + (end == LineEnd::newline ? 1 : 0);
    if (text.size() > bound || text.find('\n') != std::string::npos ||
        text.find('\r') != std::string::npos || end == LineEnd::gap)
      return false;
    if (!options.keep_escapes && text.find('\x1b') != std::string::npos)
      return false;
  }
  return bytes <= output.size() && lines_in_chunks(output, options, seed + 1U) == whole;
}

} // namespace datastream::fuzz
