#include "host_cpu_text.hpp"

#include "host_text.hpp"

#include <cstddef>

namespace datastream::host {
namespace {

enum Kind : std::size_t { user, nice, system, idle, iowait, irq, softirq, steal };

std::optional<CpuTicks> parse_ticks(std::string_view line) {
  constexpr std::size_t required = 4;
  CpuTicks ticks{};
  for (std::size_t kind = 0; kind < ticks.size(); ++kind) {
    const std::string_view word = take_word(line);
    if (word.empty() && kind >= required)
      break;
    const auto number = to_number(word);
    if (!number)
      return std::nullopt;
    ticks[kind] = *number;
  }
  return ticks;
}

/// The number of kB behind the key.
std::optional<std::uint64_t> bytes_of(std::string_view value) {
  return from_kib(to_number(take_word(value)));
}

} // namespace

CpuStat parse_cpu_stat(std::string_view text) {
  CpuStat stat;
  text = complete_lines(text);
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view name = take_word(line);
    if (!name.starts_with("cpu"))
      continue;
    const auto ticks = parse_ticks(line);
    if (!ticks)
      continue;
    if (name.size() == 3)
      stat.all = ticks;
    else if (const auto number = to_number<std::uint32_t>(name.substr(3)))
      stat.cores.emplace(*number, *ticks);
  }
  return stat;
}

std::optional<double> ticks_between(const CpuTicks& before, const CpuTicks& after) {
  double total = 0;
  for (std::size_t kind = 0; kind < before.size(); ++kind) {
    if (after[kind] < before[kind])
      return std::nullopt;
    total += static_cast<double>(after[kind] - before[kind]);
  }
  return total > 0 ? std::optional(total) : std::nullopt;
}

CpuShares shares_between(const CpuTicks& before, const CpuTicks& after) {
  const auto total = ticks_between(before, after);
  if (!total)
    return {};
  const auto percent = [&](Kind kind) {
    return static_cast<double>(after[kind] - before[kind]) / *total * 100;
  };
  double busy = 0;
  for (const Kind kind : {user, nice, system, irq, softirq, steal})
    busy += percent(kind);
  return {busy, percent(idle), percent(iowait), percent(steal)};
}

std::optional<LoadAverages> parse_load_averages(std::string_view text) {
  text = complete_lines(text);
  std::string_view line = take_line(text);
  const auto one = to_floating(take_word(line));
  const auto five = to_floating(take_word(line));
  const auto fifteen = to_floating(take_word(line));
  if (!one || !five || !fifteen || *one < 0 || *five < 0 || *fifteen < 0)
    return std::nullopt;
  return LoadAverages{*one, *five, *fifteen};
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name may hold anything, also parentheses, blanks and line ends.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  std::string_view rest = complete_lines(text.substr(close + 1));
  rest = take_line(rest);
  const auto skip = [&](int words) {
    while (words-- > 0)
      take_word(rest);
  };
  skip(11); // from the state to the major faults of its children
  const auto user_ticks = to_number(take_word(rest));
  const auto system_ticks = to_number(take_word(rest));
  skip(6); // times of its children, priorities, threads, a timer
  const auto started = to_number(take_word(rest));
  std::uint64_t ticks = 0;
  if (!user_ticks || !system_ticks || !started ||
      __builtin_add_overflow(*user_ticks, *system_ticks, &ticks))
    return std::nullopt;
  return ProcessStat{std::string(text.substr(open + 1, close - open - 1)), ticks, *started};
}

ProcessStatus parse_process_status(std::string_view text) {
  ProcessStatus status;
  text = complete_lines(text);
  while (!text.empty()) {
    std::string_view value = take_line(text);
    const std::string_view key = take_until(value, ':');
    if (key == "Name")
      status.name = trim(value);
    else if (key == "VmRSS")
      status.rss_bytes = bytes_of(value);
    else if (key == "VmSize")
      status.vms_bytes = bytes_of(value);
    else if (key == "Threads")
      status.threads = to_number<std::uint32_t>(take_word(value));
  }
  return status;
}

} // namespace datastream::host
