#pragma once
/// When a TCP peer that says nothing counts as gone.

#include <datastream/defaults.hpp>

#include <chrono>

namespace datastream {

/// A peer that vanished without a word (its power, its network) is noticed after `idle` and
/// `probes` times `interval` while nothing is sent to it, and after `unacknowledged` while
/// something is. Seconds from 1 to 32,767, probes from 1 to 127, and at least one millisecond.
struct TcpKeepalive {
  std::chrono::seconds idle = defaults::keepalive_idle;         ///< silence before the first probe
  std::chrono::seconds interval = defaults::keepalive_interval; ///< between probes
  int probes = defaults::keepalive_probes; ///< unanswered ones after which the peer is gone
  /// How long what was sent may stay unacknowledged. A peer that lives and takes nothing for so
  /// long counts as gone, too.
  std::chrono::milliseconds unacknowledged = defaults::unacknowledged;
};

} // namespace datastream
