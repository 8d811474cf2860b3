#pragma once
/// Payloads of which the model knows, without looking at them, what views must make of them.

#include <datastream/model/ledger.hpp>
#include <datastream/record.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace datastream::model_test {

/// A record of the model's own. `queue` has a narrow type, so that a number may not fit.
struct Load {
  static constexpr auto CHANNEL = "worker.load";
  std::uint32_t queue = 0;
  double busy = 0.5;
  friend bool operator==(const Load&, const Load&) = default;
};
DATASTREAM_RECORD(Load, queue, busy)

/// What is known of a payload.
struct Payload {
  std::string bytes;
  bool utf8 = true;
  bool json = false;                  ///< a JSON object
  std::optional<Load> load{};         ///< decodes as this record
  std::optional<PipeLedger> health{}; ///< a health record of this moment
};
using PayloadPtr = std::shared_ptr<const Payload>;

/// `sort` chooses what it looks like, `number` makes it differ from others.
PayloadPtr make_payload(std::uint32_t sort, std::uint32_t number);

/// A text that is in some payloads.
inline constexpr std::string_view needles[] = {"line", "", "\"queue\":", "\n", "nowhere"};

} // namespace datastream::model_test
