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
  Json refused = Json::object();
  for (const LossReason reason : mux_refusals)
    refused[std::string(to_string(reason))] = ledger.refused.count(reason);
  Json subscribers = Json::array();
  for (const SubscriberLedger& subscriber : ledger.fanout.subscribers) {
    Json entry = {{"id", subscriber.id.value}, {"name", subscriber.name}};
    entry.update(counts_json(subscriber.counts));
    subscribers.push_back(std::move(entry));
  }
  const Json record = {
      {"assigned", ledger.assigned},
      {"dropped", ledger.refused.total()},
      {"loss_rate_ppm", loss_rate_ppm(ledger.refused.total(), ledger.assigned)},
      {"submitted", ledger.submitted()},
      {"refused", std::move(refused)},
      {"in_mux", ledger.in_mux},
      {"in_transit", ledger.in_transit},
      {"published", ledger.published},
      {"bitbucketed", ledger.bitbucketed},
      {"drained_directly", ledger.drained_directly},
      {"ended", ledger.ended},
      {"subscribers", std::move(subscribers)},
      {"departed", counts_json(ledger.fanout.departed)},
      {"stray_acknowledgements", ledger.fanout.stray_acknowledgements},
      {"frames_after_end", ledger.fanout.frames_after_end},
  };
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace datastream
