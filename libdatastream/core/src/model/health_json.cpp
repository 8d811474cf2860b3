#include <datastream/model/health.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace datastream {
namespace {

using Json = nlohmann::ordered_json;

std::uint32_t loss_rate_ppm(std::uint64_t dropped, std::uint64_t assigned) {
  if (assigned == 0)
    return 0;
  const double rate = static_cast<double>(dropped) / static_cast<double>(assigned) * 1e6;
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  return rate >= static_cast<double>(most) ? most : static_cast<std::uint32_t>(rate);
}

Json counts_json(const SubscriberCounts& counts) {
  return {{"offered", counts.offered},
          {"acknowledged", counts.acknowledged},
          {"dropped", counts.dropped},
          {"outstanding", counts.outstanding},
          {"abandoned", counts.abandoned}};
}

} // namespace

std::string encode_health(const PipeLedger& ledger) {
  const RefusedCounts& refused = ledger.refused;
  Json subscribers = Json::array();
  for (const SubscriberLedger& subscriber : ledger.fanout.subscribers) {
    Json entry = {{"id", subscriber.id.value}, {"name", subscriber.name}};
    entry.update(counts_json(subscriber.counts));
    subscribers.push_back(std::move(entry));
  }
  const Json record = {
      {"assigned", ledger.assigned},
      {"dropped", refused.total()},
      {"loss_rate_ppm", loss_rate_ppm(refused.total(), ledger.assigned)},
      {"submitted", ledger.submitted()},
      {"refused",
       {{"mux_frames_full", refused.mux_frames_full},
        {"mux_bytes_full", refused.mux_bytes_full},
        {"stream_ended", refused.stream_ended},
        {"payload_too_large", refused.payload_too_large},
        {"out_of_memory", refused.out_of_memory}}},
      {"in_mux", ledger.in_mux},
      {"published", ledger.published},
      {"bitbucketed", ledger.bitbucketed},
      {"drained_directly", ledger.drained_directly},
      {"ended", ledger.ended},
      {"subscribers", std::move(subscribers)},
      {"departed", counts_json(ledger.fanout.departed)},
      {"stray_acknowledgements", ledger.fanout.stray_acknowledgements},
  };
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace datastream
