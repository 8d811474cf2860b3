#include <datastream/views/log_entry.hpp>

#include <ostream>

namespace datastream {
namespace {

std::string line(const LogFrame& entry) {
  const FrameView& frame = entry.frame;
  std::string text = '#' + std::to_string(frame.position.value) + " [";
  text += frame.name.empty() ? std::to_string(frame.channel.value) : std::string(frame.name);
  return text + "] " + to_string(entry.body());
}

std::string note(std::uint64_t start, const std::string& what) {
  std::string position = std::to_string(start);
  if (position.size() < 4)
    position.resize(4, ' ');
  return '#' + position + " --- " + what + " ---";
}

std::string line(const GapSpan& gap) {
  return note(gap.first.value, std::to_string(gap.count()) + " missing");
}

std::string line(const EvictedRange& evicted) {
  std::string what = std::to_string(evicted.frames) + " evicted";
  if (evicted.missing != 0)
    what += ", " + std::to_string(evicted.missing) + " missing between them";
  return note(0, what);
}

} // namespace

std::string to_string(const LogEntry& entry) {
  return std::visit([](const auto& e) { return line(e); }, entry);
}

std::ostream& operator<<(std::ostream& out, const LogEntry& entry) {
  return out << to_string(entry);
}

} // namespace datastream
