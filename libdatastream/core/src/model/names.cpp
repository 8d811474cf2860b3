#include <datastream/model/channel_content.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/loss_reason.hpp>

namespace datastream {

std::string_view to_string(ChannelContentKind kind) {
  switch (kind) {
  case ChannelContentKind::Bytes:
    return "Bytes";
  case ChannelContentKind::TextStream:
    return "TextStream";
  case ChannelContentKind::JsonRecord:
    return "JsonRecord";
  }
  return "unknown";
}

std::string_view to_string(StreamOrigin origin) {
  switch (origin) {
  case StreamOrigin::Orchestrator:
    return "Orchestrator";
  case StreamOrigin::Bootstrap:
    return "Bootstrap";
  case StreamOrigin::RemoteNode:
    return "RemoteNode";
  }
  return "unknown";
}

std::string_view to_string(LossReason reason) {
  switch (reason) {
  case LossReason::mux_frames_full:
    return "mux_frames_full";
  case LossReason::mux_bytes_full:
    return "mux_bytes_full";
  case LossReason::stream_ended:
    return "stream_ended";
  case LossReason::payload_too_large:
    return "payload_too_large";
  case LossReason::out_of_memory:
    return "out_of_memory";
  case LossReason::subscriber_full:
    return "subscriber_full";
  case LossReason::subscriber_left:
    return "subscriber_left";
  case LossReason::duplicate:
    return "duplicate";
  case LossReason::conflict:
    return "conflict";
  case LossReason::late_for_evicted:
    return "late_for_evicted";
  case LossReason::evicted:
    return "evicted";
  case LossReason::malformed_batch:
    return "malformed_batch";
  case LossReason::stray_acknowledgement:
    return "stray_acknowledgement";
  case LossReason::frames_after_end:
    return "frames_after_end";
  case LossReason::conflicting_declaration:
    return "conflicting_declaration";
  case LossReason::send_queue_full:
    return "send_queue_full";
  case LossReason::envelope_too_large:
    return "envelope_too_large";
  case LossReason::connection_broken:
    return "connection_broken";
  case LossReason::not_encodable:
    return "not_encodable";
  case LossReason::kernel_refused:
    return "kernel_refused";
  case LossReason::peer_refused:
    return "peer_refused";
  case LossReason::malformed_envelope:
    return "malformed_envelope";
  case LossReason::address_not_allowed:
    return "address_not_allowed";
  case LossReason::kernel_dropped:
    return "kernel_dropped";
  case LossReason::envelope_over_maximum:
    return "envelope_over_maximum";
  case LossReason::envelope_cut_short:
    return "envelope_cut_short";
  case LossReason::too_many_connections:
    return "too_many_connections";
  case LossReason::handler_failed:
    return "handler_failed";
  case LossReason::returned:
    return "returned";
  case LossReason::contested:
    return "contested";
  case LossReason::too_many_streams:
    return "too_many_streams";
  case LossReason::sink_full:
    return "sink_full";
  case LossReason::undelivered:
    return "undelivered";
  case LossReason::archive_suspended:
    return "archive_suspended";
  case LossReason::archive_stopped:
    return "archive_stopped";
  case LossReason::archive_too_large:
    return "archive_too_large";
  case LossReason::archive_unverified:
    return "archive_unverified";
  case LossReason::refused_declaration:
    return "refused_declaration";
  }
  return "unknown";
}

} // namespace datastream
