#include <datastream/views/ledger.hpp>

#include <datastream/model/health.hpp>
#include <datastream/record.hpp>

#include <string>
#include <utility>

namespace datastream {
namespace {

struct CountsRecord {
  std::uint64_t offered = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t dropped = 0;
  std::uint64_t outstanding = 0;
  std::uint64_t abandoned = 0;
};
DATASTREAM_RECORD(CountsRecord, offered, acknowledged, dropped, outstanding, abandoned)

struct SubscriberRecord : CountsRecord {
  std::uint64_t id = 0;
  std::string name;
};
DATASTREAM_RECORD(SubscriberRecord, id, name, offered, acknowledged, dropped, outstanding,
                  abandoned)

struct RefusedRecord {
  std::uint64_t mux_frames_full = 0;
  std::uint64_t mux_bytes_full = 0;
  std::uint64_t stream_ended = 0;
  std::uint64_t payload_too_large = 0;
  std::uint64_t out_of_memory = 0;
};
DATASTREAM_RECORD(RefusedRecord, mux_frames_full, mux_bytes_full, stream_ended, payload_too_large,
                  out_of_memory)

/// The reading side of `encode_health`.
struct HealthRecord {
  static constexpr auto CHANNEL = health_channel;
  std::uint64_t assigned = 0;
  std::uint64_t dropped = 0;
  std::uint64_t submitted = 0;
  std::optional<RefusedRecord> refused;
  std::uint64_t in_mux = 0;
  std::uint64_t in_transit = 0;
  std::uint64_t published = 0;
  std::uint64_t bitbucketed = 0;
  std::uint64_t drained_directly = 0;
  bool ended = false;
  std::vector<SubscriberRecord> subscribers;
  CountsRecord departed;
  std::uint64_t stray_acknowledgements = 0;
  std::uint64_t frames_after_end = 0;
};
DATASTREAM_RECORD(HealthRecord, assigned, dropped, submitted, refused, in_mux, in_transit,
                  published, bitbucketed, drained_directly, ended, subscribers, departed,
                  stray_acknowledgements, frames_after_end)

SubscriberCounts counts(const CountsRecord& record) {
  return {record.offered, record.acknowledged, record.dropped, record.outstanding,
          record.abandoned};
}

PipeLedger pipe_ledger(const StreamId& stream, HealthRecord&& record) {
  PipeLedger ledger;
  ledger.stream = stream;
  if (record.refused)
    ledger.refused = {record.refused->mux_frames_full, record.refused->mux_bytes_full,
                      record.refused->stream_ended, record.refused->payload_too_large,
                      record.refused->out_of_memory};
  ledger.in_mux = record.in_mux;
  ledger.assigned = record.assigned;
  ledger.in_transit = record.in_transit;
  ledger.published = record.published;
  ledger.bitbucketed = record.bitbucketed;
  ledger.drained_directly = record.drained_directly;
  ledger.ended = record.ended;
  for (SubscriberRecord& subscriber : record.subscribers)
    ledger.fanout.subscribers.push_back(
        {{subscriber.id}, std::move(subscriber.name), counts(subscriber)});
  ledger.fanout.departed = counts(record.departed);
  ledger.fanout.stray_acknowledgements = record.stray_acknowledgements;
  ledger.fanout.frames_after_end = record.frames_after_end;
  return ledger;
}

/// A health record that is stored, and where.
struct StoredRecord {
  Position position;
  HealthRecord record;
};

std::optional<StoredRecord> latest_record(const StoredStream& stream, ChannelId health) {
  const auto frames = stream.frames();
  for (auto at = frames.end(); at != frames.begin();) {
    const FrameView frame = *--at;
    if (frame.channel != health)
      continue;
    if (auto record = decode_record<HealthRecord>(frame.payload))
      return StoredRecord{frame.position, std::move(*record)};
  }
  return std::nullopt;
}

} // namespace

std::string_view to_string(ReportInconsistency inconsistency) {
  switch (inconsistency) {
  case ReportInconsistency::sums_differ:
    return "sums_differ";
  case ReportInconsistency::assigned_in_advance:
    return "assigned_in_advance";
  case ReportInconsistency::ended_too_early:
    return "ended_too_early";
  }
  return "unknown";
}

StreamReport stream_report(const StoredStream& stream, std::optional<ChannelId> health) {
  StreamReport report{stream.ledger(), std::nullopt, {}};
  const auto note = [&](bool contradicts, ReportInconsistency inconsistency) {
    if (contradicts)
      report.inconsistencies.push_back(inconsistency);
  };

  auto latest = health ? latest_record(stream, *health) : std::nullopt;
  if (latest) {
    const std::uint64_t submitted = latest->record.submitted;
    const std::uint64_t dropped = latest->record.dropped;
    const bool whole = latest->record.refused.has_value();
    const PipeLedger ledger = pipe_ledger(stream.id(), std::move(latest->record));
    note(whole && (!ledger.balanced() || dropped != ledger.refused.total() ||
                   submitted != ledger.submitted()),
         ReportInconsistency::sums_differ);
    note(ledger.assigned > latest->position.value, ReportInconsistency::assigned_in_advance);
    report.reported = {latest->position, dropped, ledger, whole};
  }
  note(report.ingest.assigned && report.ingest.highest_stored &&
           report.ingest.highest_stored->value >= *report.ingest.assigned,
       ReportInconsistency::ended_too_early);
  return report;
}

} // namespace datastream
