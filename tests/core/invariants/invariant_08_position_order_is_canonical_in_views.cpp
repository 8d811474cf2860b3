/// Specification 9.1, invariant 8, as far as views go: whatever the order in which frames arrived,
/// views show them by position.

#include <datastream/views/filter.hpp>
#include <datastream/views/grep.hpp>
#include <datastream/views/latest.hpp>
#include <datastream/views/merged_log.hpp>
#include <datastream/views/metric_series.hpp>
#include <datastream/views/tail.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <stream_of.hpp>

using namespace datastream;

namespace {

struct Count {
  static constexpr auto CHANNEL = "test.count";
  std::uint64_t n = 0;
};
DATASTREAM_RECORD(Count, n)

using Positions = std::vector<std::uint64_t>;

template <class Frames>
Positions positions(Frames&& frames) {
  Positions result;
  for (const FrameView& frame : frames)
    result.push_back(frame.position.value);
  return result;
}

} // namespace

TEST_CASE("invariant_08_position_order_is_canonical_in_views") {
  std::vector<Frame> frames;
  Positions sent;
  for (std::uint64_t position = 3; position < 3000; position += 1 + position % 3) {
    frames.push_back({{1}, {position}, encode_record(Count{position})});
    sent.push_back(position);
  }
  std::mt19937 random(20260708);
  for (int round = 0; round < 5; ++round) {
    CAPTURE(round);
    std::ranges::shuffle(frames, random);
    std::vector<Frame> arriving = frames;
    // A retried batch that comes again behind a newer one.
    arriving.insert(arriving.end(), frames.begin(), frames.begin() + 100);
    const StoredStream stream = stream_of(arriving);

    Positions logged;
    for (const LogEntry& entry : merged_log(stream))
      if (const auto* frame = std::get_if<LogFrame>(&entry))
        logged.push_back(frame->frame.position.value);
    CHECK(logged == sent);

    Positions measured;
    for (const auto& point : metric_series_on<Count>(stream, {1})) {
      CHECK(point.record.n == point.position.value);
      measured.push_back(point.position.value);
    }
    CHECK(measured == sent);

    CHECK(positions(filter(stream, [](const FrameView&) { return true; })) == sent);
    CHECK(positions(grep(stream, "\"n\"")) == sent);
    CHECK(positions(tail(stream, 10)) == Positions(sent.end() - 10, sent.end()));
    CHECK(latest(stream, {1})->position.value == sent.back());
  }
}
