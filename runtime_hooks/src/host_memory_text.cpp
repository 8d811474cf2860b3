#include "host_memory_text.hpp"

#include "host_text.hpp"

namespace datastream::host {
namespace {

using Bytes = std::optional<std::uint64_t>;

Bytes difference(Bytes whole, Bytes part) {
  return whole && part && *part <= *whole ? Bytes(*whole - *part) : std::nullopt;
}

Bytes sum(Bytes a, Bytes b) {
  std::uint64_t result = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &result) ? Bytes(result) : std::nullopt;
}

struct PressureLine {
  double avg10 = 0;
  double avg60 = 0;
  double avg300 = 0;
  std::uint64_t total = 0;
};

/// `avg10=0.00 avg60=0.00 avg300=0.00 total=0`, in any order.
std::optional<PressureLine> parse_pressure_line(std::string_view line) {
  std::optional<double> avg10, avg60, avg300;
  std::optional<std::uint64_t> total;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    const std::string_view key = take_until(word, '=');
    if (key == "avg10")
      avg10 = to_floating(word);
    else if (key == "avg60")
      avg60 = to_floating(word);
    else if (key == "avg300")
      avg300 = to_floating(word);
    else if (key == "total")
      total = to_number(word);
  }
  if (!avg10 || !avg60 || !avg300 || !total || *avg10 < 0 || *avg60 < 0 || *avg300 < 0)
    return std::nullopt;
  return PressureLine{*avg10, *avg60, *avg300, *total};
}

} // namespace

MemoryInfo parse_memory_info(std::string_view text) {
  Bytes total, available, cached, reclaimable, swap_total, swap_free;
  text = complete_lines(text);
  while (!text.empty()) {
    std::string_view value = take_line(text);
    const std::string_view key = take_until(value, ':');
    const auto read = [&](Bytes& bytes) { bytes = from_kib(to_number(take_word(value))); };
    if (key == "MemTotal")
      read(total);
    else if (key == "MemAvailable")
      read(available);
    else if (key == "Cached")
      read(cached);
    else if (key == "SReclaimable")
      read(reclaimable);
    else if (key == "SwapTotal")
      read(swap_total);
    else if (key == "SwapFree")
      read(swap_free);
  }
  return {total,
          available,
          difference(total, available),
          sum(cached, reclaimable),
          swap_total,
          difference(swap_total, swap_free)};
}

std::optional<PressureRecord> parse_pressure(std::string_view text) {
  std::optional<PressureLine> some, full;
  text = complete_lines(text);
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view kind = take_word(line);
    if (kind == "some")
      some = parse_pressure_line(line);
    else if (kind == "full")
      full = parse_pressure_line(line);
  }
  if (!some)
    return std::nullopt;
  PressureRecord record{some->avg10, some->avg60, some->avg300, some->total, {}, {}, {}, {}};
  if (full) {
    record.full_avg10 = full->avg10;
    record.full_avg60 = full->avg60;
    record.full_avg300 = full->avg300;
    record.full_total_us = full->total;
  }
  return record;
}

} // namespace datastream::host
