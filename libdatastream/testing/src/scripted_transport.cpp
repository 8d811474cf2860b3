#include <datastream/testing/scripted_transport.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace datastream::testing {
namespace {

using Frames = std::vector<const Frame*>;

Frames without(const std::set<Position>& dropped, std::span<const Frame> frames) {
  Frames kept;
  for (const Frame& frame : frames)
    if (!dropped.contains(frame.position))
      kept.push_back(&frame);
  return kept;
}

Frames reordered(Frames frames, const Reorder& order) {
  if (std::holds_alternative<reorder::Reversed>(order)) {
    std::ranges::reverse(frames);
  } else if (const auto* windows = std::get_if<reorder::Windows>(&order)) {
    const std::size_t size = std::max<std::size_t>(windows->size, 1);
    for (std::size_t first = 0; first < frames.size();) {
      const std::size_t length = std::min(size, frames.size() - first);
      std::ranges::reverse(std::span(frames).subspan(first, length));
      first += length;
    }
  } else if (const auto* permutation = std::get_if<reorder::Permutation>(&order)) {
    Frames picked;
    for (const std::size_t index : permutation->indices)
      if (index < frames.size())
        picked.push_back(frames[index]);
    return picked;
  }
  return frames;
}

std::size_t count_for(const std::map<Position, std::size_t>& counts, Position position) {
  const auto it = counts.find(position);
  return it == counts.end() ? 0 : it->second;
}

Frames duplicated(const Frames& frames, const std::map<Position, std::size_t>& copies) {
  Frames all;
  for (const Frame* frame : frames)
    all.insert(all.end(), 1 + count_for(copies, frame->position), frame);
  return all;
}

Frames delayed(const Frames& frames, const std::map<Position, std::size_t>& delays) {
  struct Turn {
    std::size_t after; ///< place of the last delivery that goes before, or its own
    std::size_t place;
  };
  std::vector<Turn> turns;
  for (std::size_t place = 0; place < frames.size(); ++place) {
    // No delay reaches beyond the end, however long it is.
    const std::size_t most = frames.size() - place;
    const std::size_t delay = std::min(count_for(delays, frames[place]->position), most);
    turns.push_back({place + delay, place});
  }
  // Who was not delayed goes before those that wait for him.
  std::ranges::sort(turns, [](const Turn& a, const Turn& b) {
    return std::tuple(a.after, a.after != a.place, a.place) <
           std::tuple(b.after, b.after != b.place, b.place);
  });
  Frames ordered;
  for (const Turn& turn : turns)
    ordered.push_back(frames[turn.place]);
  return ordered;
}

} // namespace

ScriptedTransport::ScriptedTransport(Script script) : script_(std::move(script)) {}

std::vector<Delivery> ScriptedTransport::carry(const StreamId& stream,
                                               std::span<const Frame> frames) const {
  Frames arriving = reordered(without(script_.drop, frames), script_.reorder);
  arriving = delayed(duplicated(arriving, script_.duplicate), script_.delay);
  std::vector<Delivery> deliveries;
  deliveries.reserve(arriving.size());
  for (const Frame* frame : arriving)
    deliveries.push_back({stream, *frame});
  return deliveries;
}

std::vector<Delivery> ScriptedTransport::carry(const FrameBatch& batch) const {
  if (batch.empty())
    return {};
  std::vector<Frame> frames;
  frames.reserve(batch.size());
  for (const FrameView& frame : batch)
    frames.push_back(frame.to_frame());
  return carry(batch.stream(), frames);
}

std::vector<Delivery> ScriptedTransport::carry_all(std::span<const SentStream> streams) const {
  std::vector<std::vector<Delivery>> carried;
  std::size_t longest = 0;
  for (const SentStream& sent : streams) {
    carried.push_back(carry(sent.stream, sent.frames));
    longest = std::max(longest, carried.back().size());
  }
  std::vector<Delivery> deliveries;
  for (std::size_t turn = 0; turn < longest; ++turn)
    for (auto& list : carried)
      if (turn < list.size())
        deliveries.push_back(std::move(list[turn]));
  return deliveries;
}

} // namespace datastream::testing
