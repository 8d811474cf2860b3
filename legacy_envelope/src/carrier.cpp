#include <datastream/envelope/carrier.hpp>

namespace datastream {

std::string_view to_string(CarrierError::Kind kind) {
  switch (kind) {
  case CarrierError::Kind::bad_address:
    return "bad_address";
  case CarrierError::Kind::not_loopback:
    return "not_loopback";
  case CarrierError::Kind::cannot_resolve:
    return "cannot_resolve";
  case CarrierError::Kind::cannot_bind:
    return "cannot_bind";
  case CarrierError::Kind::bad_option:
    return "bad_option";
  case CarrierError::Kind::system:
    return "system";
  }
  return "unknown";
}

void MalformedCounts::count(EnvelopeError error) noexcept {
  switch (error) {
  case EnvelopeError::truncated:
    ++truncated;
    return;
  case EnvelopeError::not_utf8:
    ++not_utf8;
    return;
  case EnvelopeError::trailing_bytes:
    ++trailing_bytes;
    return;
  case EnvelopeError::bad_length:
  case EnvelopeError::unknown_tag:
    return; // never found by decoding
  }
}

MalformedCounts& MalformedCounts::operator+=(const MalformedCounts& other) noexcept {
  truncated += other.truncated;
  not_utf8 += other.not_utf8;
  trailing_bytes += other.trailing_bytes;
  return *this;
}

bool ReceiverLedger::balanced() const {
  return received ==
             malformed.total() + not_allowed + out_of_memory + handler_failed + held + handed_on &&
         connections.balanced();
}

std::uint64_t SendLosses::count(LossReason reason) const {
  switch (reason) {
  case LossReason::send_queue_full:
    return send_queue_full;
  case LossReason::envelope_too_large:
    return envelope_too_large;
  case LossReason::connection_broken:
    return connection_broken;
  case LossReason::not_encodable:
    return not_encodable;
  case LossReason::kernel_refused:
    return kernel_refused;
  case LossReason::peer_refused:
    return peer_refused;
  case LossReason::out_of_memory:
    return out_of_memory;
  default:
    return 0;
  }
}

} // namespace datastream
