#include "overlap.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace ds = datastream;
using namespace word_index;

namespace {

constexpr double least_percent = 90;

} // namespace

Overlap overlap(const ds::StoredStream& store, const ds::FrameBatch& other) {
  Overlap result;
  if (other.empty())
    return result;
  const bool same_stream = other.stream() == store.id();
  const auto evicted = store.evicted();
  for (const ds::FrameView& frame : other) {
    if (same_stream && evicted && frame.position < evicted->end)
      continue;
    ++result.frames;
    const auto stored = same_stream ? store.at(frame.position) : std::nullopt;
    if (!stored)
      continue;
    ++result.both;
    if (stored->channel != frame.channel || stored->payload != frame.payload)
      ++result.different;
  }
  return result;
}

bool print_overlap(std::ostream& out, const std::string& other, const Overlap& overlap,
                   std::uint64_t stored) {
  const std::uint64_t shorter = std::min(overlap.frames, stored);
  const double percent =
      shorter == 0 ? 0 : 100.0 * static_cast<double>(overlap.both) / static_cast<double>(shorter);
  const bool enough = percent >= least_percent;
  std::ostringstream line;
  line << other << ": " << overlap.frames << " frames, " << overlap.both << " of both, "
       << std::fixed << std::setprecision(1) << percent << " % of the shorter, ";
  if (overlap.different > 0)
    line << overlap.different << " of them DIFFERENT";
  else
    line << "identical";
  if (!enough)
    line << ": TOO FEW";
  out << line.view() << '\n';
  return enough && overlap.different == 0;
}
