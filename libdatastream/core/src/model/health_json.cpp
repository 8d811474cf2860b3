#include <datastream/model/health.hpp>

#include <datastream/defaults.hpp>
#include <datastream/model/json_text.hpp>
#include <datastream/model/utf8.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

// Text is appended, and no document built: the JSON library allocates where it destroys one, which
// ends the program when there is no memory.

namespace datastream {
namespace {

std::uint32_t loss_rate_ppm(std::uint64_t dropped, std::uint64_t assigned) {
  if (assigned == 0)
    return 0;
  const double rate = static_cast<double>(dropped) / static_cast<double>(assigned) * 1e6;
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  return rate >= static_cast<double>(most) ? most : static_cast<std::uint32_t>(rate);
}

void append_key(std::string& out, std::string_view key) {
  append_json_string(out, key);
  out += ':';
}

void append_count(std::string& out, std::string_view key, std::uint64_t count) {
  append_key(out, key);
  append_json_integer(out, count);
  out += ',';
}

void append_counts(std::string& out, const SubscriberCounts& counts) {
  append_count(out, "offered", counts.offered);
  append_count(out, "acknowledged", counts.acknowledged);
  append_count(out, "dropped", counts.dropped);
  append_count(out, "outstanding", counts.outstanding);
  append_count(out, "abandoned", counts.abandoned);
}

/// What is shown of a name, whole characters if it is text.
std::string_view shown(std::string_view name) {
  return name.size() > defaults::health_name_bytes
             ? whole_characters(name.substr(0, defaults::health_name_bytes))
             : name;
}

void append_subscriber(std::string& out, const SubscriberLedger& subscriber) {
  out += '{';
  append_count(out, "id", subscriber.id.value);
  append_key(out, "name");
  append_json_string(out, shown(subscriber.name));
  out += ',';
  append_counts(out, subscriber.counts);
  close_json(out, '}');
}

} // namespace

std::string encode_health(const PipeLedger& ledger) {
  const std::span subscribers(ledger.fanout.subscribers);
  const auto listed = subscribers.first(std::min(subscribers.size(), defaults::health_subscribers));
  const auto omitted = subscribers.subspan(listed.size());

  std::string out = "{";
  append_count(out, "assigned", ledger.assigned);
  append_count(out, "dropped", ledger.refused.total());
  append_count(out, "loss_rate_ppm", loss_rate_ppm(ledger.refused.total(), ledger.assigned));
  append_count(out, "submitted", ledger.submitted());
  append_key(out, "refused");
  out += '{';
  for (const LossReason reason : mux_refusals)
    append_count(out, to_string(reason), ledger.refused.count(reason));
  close_json(out, '}');
  out += ',';
  append_count(out, "in_mux", ledger.in_mux);
  append_count(out, "in_transit", ledger.in_transit);
  append_count(out, "published", ledger.published);
  append_count(out, "bitbucketed", ledger.bitbucketed);
  append_count(out, "drained_directly", ledger.drained_directly);
  append_key(out, "ended");
  out += ledger.ended ? "true," : "false,";
  append_key(out, "subscribers");
  out += '[';
  for (const SubscriberLedger& subscriber : listed) {
    append_subscriber(out, subscriber);
    out += ',';
  }
  close_json(out, ']');
  out += ',';
  append_key(out, "departed");
  out += '{';
  append_counts(out, ledger.fanout.departed);
  close_json(out, '}');
  out += ',';
  append_count(out, "stray_acknowledgements", ledger.fanout.stray_acknowledgements);
  append_count(out, "frames_after_end", ledger.fanout.frames_after_end);
  append_key(out, "omitted");
  out += '{';
  append_count(out, "subscribers", omitted.size());
  SubscriberCounts sums;
  for (const SubscriberLedger& subscriber : omitted)
    sums += subscriber.counts;
  append_counts(out, sums);
  close_json(out, '}');
  out += '}';
  return out;
}

} // namespace datastream
