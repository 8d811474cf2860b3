/// Specification 9.1, invariant 13: records evolve by adding fields; readers fill in what an older
/// producer did not send and ignore what a newer one added. Each version of the record reads the
/// payloads of each version, in one series.

#include <datastream/views/metric_series.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <stream_of.hpp>

using namespace datastream;

namespace older {
struct Load {
  static constexpr auto CHANNEL = "worker.load";
  std::uint32_t queue = 0;
};
DATASTREAM_RECORD(Load, queue)
} // namespace older

namespace current {
struct Load {
  static constexpr auto CHANNEL = "worker.load";
  std::uint32_t queue = 0;
  double busy = -1;
};
DATASTREAM_RECORD(Load, queue, busy)
} // namespace current

namespace newer {
struct Cause {
  std::string name = "unknown";
};
DATASTREAM_RECORD(Cause, name)
struct Load {
  static constexpr auto CHANNEL = "worker.load";
  std::uint32_t queue = 0;
  double busy = -1;
  std::optional<std::string> host;
  std::vector<Cause> causes;
  Cause first;
};
DATASTREAM_RECORD(Load, queue, busy, host, causes, first)
} // namespace newer

namespace broken { // what evolution forbids: a field that changed its type
struct Load {
  static constexpr auto CHANNEL = "worker.load";
  std::string queue;
};
DATASTREAM_RECORD(Load, queue)
} // namespace broken

TEST_CASE("invariant_13_version_skew_tolerance") {
  const StoredStream stream =
      stream_of({{{1}, {0}, encode_record(older::Load{1})},
                 {{1}, {1}, encode_record(current::Load{2, 0.5})},
                 {{1}, {2}, encode_record(newer::Load{3, 0.75, "h", {{"disk"}}, {"net"}})},
                 {{1}, {3}, encode_record(broken::Load{"4"})}});

  std::vector<std::uint32_t> by_older;
  for (const auto& point : metric_series_on<older::Load>(stream, {1}))
    by_older.push_back(point.record.queue);
  CHECK(by_older == std::vector<std::uint32_t>{1, 2, 3});

  std::vector<double> by_current;
  for (const auto& point : metric_series_on<current::Load>(stream, {1}))
    by_current.push_back(point.record.busy);
  CHECK(by_current == std::vector<double>{-1, 0.5, 0.75});

  std::vector<std::string> by_newer;
  for (const auto& point : metric_series_on<newer::Load>(stream, {1}))
    by_newer.push_back(point.record.host.value_or("none") + '/' + point.record.first.name + '/' +
                       std::to_string(point.record.causes.size()));
  CHECK(by_newer == std::vector<std::string>{"none/unknown/0", "none/unknown/0", "h/net/1"});
}
