#include <datastream/views/metric_series.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <stream_of.hpp>

using namespace datastream;

namespace {

struct Load {
  static constexpr auto CHANNEL = "worker.load";
  std::uint32_t queue = 0;
  double busy = 0;
};
DATASTREAM_RECORD(Load, queue, busy)

using Points = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

template <class Series>
Points points(const Series& series) {
  Points result;
  for (const auto& point : series)
    result.emplace_back(point.position.value, point.record.queue);
  return result;
}

StoredStream example() {
  return stream_of({{{1}, {0}, R"({"queue":1})"},
                    {{2}, {1}, R"({"queue":2})"},
                    {{1}, {2}, "not json"},
                    {{1}, {3}, R"({"queue":"3"})"},
                    {{1}, {5}, R"({"queue":4,"busy":0.5})"},
                    {{2}, {6}, "plain text"}});
}

} // namespace

static_assert(std::ranges::input_range<MetricSeries<Load>>);
static_assert(std::ranges::view<MetricSeries<Load>>);

TEST_CASE("a_series_of_a_channel_has_the_records_of_that_channel_only") {
  const StoredStream stream = example();
  CHECK(points(metric_series_on<Load>(stream, {2})) == Points{{1, 2}});
  CHECK(points(metric_series_on<Load>(stream, {3})).empty());
}

TEST_CASE("a_series_skips_what_does_not_decode") {
  const StoredStream stream = example();
  CHECK(points(metric_series_on<Load>(stream, {1})) == Points{{0, 1}, {5, 4}});
}

TEST_CASE("a_series_without_a_channel_has_every_record_that_decodes") {
  const StoredStream stream = example();
  CHECK(points(metric_series<Load>(stream)) == Points{{0, 1}, {1, 2}, {5, 4}});
}

TEST_CASE("a_series_without_a_channel_over_matches_records_of_defaults") {
  const StoredStream stream = stream_of({{{9}, {0}, R"({"unrelated":true})"}});
  CHECK(points(metric_series<Load>(stream)) == Points{{0, 0}});
}

TEST_CASE("a_series_of_nothing_is_empty") {
  const StoredStream stream = stream_of({});
  CHECK(points(metric_series<Load>(stream)).empty());
  const StoredStream undecodable = stream_of({{{1}, {0}, "x"}});
  CHECK(points(metric_series_on<Load>(undecodable, {1})).empty());
}

TEST_CASE("a_series_never_shows_a_number_that_was_not_sent") {
  // Each of these is turned into a plausible wrong number by readers that convert.
  std::vector<Frame> frames;
  for (const char* payload :
       {R"({"queue":-1})", R"({"queue":4294967296})", R"({"queue":1.9})",
        R"({"queue":18446744073709551616})", R"({"queue":1,"queue":2})", R"({"busy":NaN})",
        R"({"busy":1e400})", R"({"busy":null})", R"({"busy":"0.5"})"})
    frames.push_back({{1}, {frames.size()}, payload});
  frames.push_back({{1}, {frames.size()}, R"({"queue":7,"busy":1e-5})"});
  const StoredStream stream = stream_of(frames);
  const auto series = metric_series_on<Load>(stream, {1});
  CHECK(points(series) == Points{{frames.size() - 1, 7}});
  CHECK((*series.begin()).record.busy == 1e-5);
}
