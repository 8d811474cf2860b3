#pragma once
/// Every reason for which a frame, record, datagram or message can be lost or refused. One
/// enumeration for counters, health record, wire, tools and tests.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace datastream {

/// The numbers are stable: they appear on wires and in archives. Append; never renumber or reuse.
enum class LossReason : std::uint16_t {
  // refused by the mux, before a position was assigned (specification 4.5)
  mux_frames_full = 1, ///< the mux held its capacity in frames
  mux_bytes_full = 2,  ///< the mux held its capacity in bytes
  stream_ended = 3,    ///< submitted after the stream was ended
  payload_too_large = 4,
  out_of_memory = 5,

  // copies lost at one subscriber (specification 6.2)
  subscriber_full = 20, ///< the subscriber's bound in frames or bytes was reached
  subscriber_left = 21, ///< outstanding when the subscriber went away

  // not stored on arrival (specification 6.3, 7.2)
  duplicate = 40,        ///< the position is stored already, with the same bytes
  conflict = 41,         ///< the position is stored already, with other bytes; the first stays
  late_for_evicted = 42, ///< the position lies in the range that retention has evicted

  // gone after it was stored
  evicted = 60, ///< removed by retention

  // refused because it makes no sense
  malformed_batch = 80,         ///< a batch from a peer whose offsets or lengths are not its own
  stray_acknowledgement = 81,   ///< from a stranger, backwards, or beyond what was sent
  frames_after_end = 82,        ///< published to a fanout after the end of their stream
  conflicting_declaration = 83, ///< a channel id declared again with another meaning

  // lost by a sender of envelopes
  send_queue_full = 100,    ///< its queue's bound in frames or bytes was reached
  envelope_too_large = 101, ///< larger than the carrier takes
  connection_broken = 102,  ///< on its way when the connection broke
  not_encodable = 103,      ///< the codec refused it
  kernel_refused = 104,     ///< the kernel did not take the datagram
  peer_refused = 105,       ///< the peer answered with an error

  // lost by a receiver of envelopes
  malformed_envelope = 120,    ///< bytes that are no envelope
  address_not_allowed = 121,   ///< from an address that is not on the allow-list
  kernel_dropped = 122,        ///< nobody took the datagram out of the kernel's buffer in time
  envelope_over_maximum = 123, ///< its connection was closed when it was announced
  envelope_cut_short = 124,    ///< its connection ended within it
  too_many_connections = 125,  ///< a connection more than may be
  handler_failed = 126,        ///< what should have taken it threw

  // not let in from peers that speak the legacy envelope
  returned = 140,         ///< of a stream that does not come from such peers
  contested = 141,        ///< of a stream that another peer was sending
  too_many_streams = 142, ///< of a stream for which there was no room
  sink_full = 143,        ///< as much as may waited, sent by somebody who waits for no answers
  undelivered = 144,      ///< the consumer or fanout refused it or was gone

  // not stored by an archive
  archive_suspended = 160,   ///< the disk was full, or a file could not be used
  archive_stopped = 161,     ///< it had stopped after a sync that failed, or was closed
  archive_too_large = 162,   ///< beyond what a segment can hold
  archive_unverified = 163,  ///< the position was stored so long ago that nobody compared
  refused_declaration = 164, ///< not a frame: a descriptor too large, or never durable
};

/// The reasons for which a mux refuses a submission.
inline constexpr std::array mux_refusals = {LossReason::mux_frames_full, LossReason::mux_bytes_full,
                                            LossReason::stream_ended, LossReason::payload_too_large,
                                            LossReason::out_of_memory};

/// The name of the enumerator, for example `mux_frames_full`.
std::string_view to_string(LossReason reason);

} // namespace datastream
