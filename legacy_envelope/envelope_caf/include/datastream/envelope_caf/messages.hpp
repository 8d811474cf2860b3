#pragma once
/// Messages of the legacy envelope between actors.

#include <datastream/caf/inspect.hpp>
#include <datastream/envelope/admission.hpp>
#include <datastream/envelope/carrier.hpp>

#include <cstdint>
#include <string>

namespace datastream {

/// One envelope as a message to a `datastream-sink`. As a request it is answered with an empty
/// message once the frame has been taken over.
struct DatastreamFrame {
  std::string payload; ///< the bytes of one envelope
};

/// What a sink has counted: envelopes, each of which carries one frame.
struct SinkLedger {
  std::uint64_t messages = 0;    ///< arrived as a `DatastreamFrame`
  MalformedCounts malformed;     ///< of these, dropped
  std::uint64_t sink_full = 0;   ///< of these, dropped: sent by somebody who waits for no answers
  std::uint64_t waiting = 0;     ///< of these, until what came before has been taken over
  std::uint64_t carried = 0;     ///< arrived by a bridge's receivers, which count what they drop
  AdmissionLedger admission{};   ///< all others
  std::uint64_t in_transit = 0;  ///< let in, and on the way to the consumer or fanout
  std::uint64_t delivered = 0;   ///< taken over by it
  std::uint64_t undelivered = 0; ///< it answered with an error

  /// messages + carried = malformed + sink_full + waiting + arrived at the admission; admitted
  /// there = in_transit + delivered + undelivered; and the admission is balanced.
  bool balanced() const {
    return messages + carried == malformed.total() + sink_full + waiting + admission.arrived &&
           admission.admitted == in_transit + delivered + undelivered && admission.balanced();
  }
  friend bool operator==(const SinkLedger&, const SinkLedger&) = default;
};

template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, DatastreamFrame& x) {
  return compat::inspect_object(f, x, "DatastreamFrame", "payload", x.payload);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, MalformedCounts& x) {
  return compat::inspect_object(f, x, "MalformedCounts", "truncated", x.truncated, "not_utf8",
                                x.not_utf8, "trailing_bytes", x.trailing_bytes);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, AdmissionLedger& x) {
  return compat::inspect_object(f, x, "AdmissionLedger", "arrived", x.arrived, "admitted",
                                x.admitted, "duplicates", x.duplicates, "returned", x.returned,
                                "refused_contested", x.refused_contested, "too_many_streams",
                                x.too_many_streams, "out_of_memory", x.out_of_memory, "contested",
                                x.contested);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, SinkLedger& x) {
  return compat::inspect_object(
      f, x, "SinkLedger", "messages", x.messages, "malformed", x.malformed, "sink_full",
      x.sink_full, "waiting", x.waiting, "carried", x.carried, "admission", x.admission,
      "in_transit", x.in_transit, "delivered", x.delivered, "undelivered", x.undelivered);
}

} // namespace datastream
