#pragma once
/// When a TCP peer that says nothing counts as gone.

#include <datastream/defaults.hpp>

#include <chrono>

namespace datastream {

/// A peer that vanished without a word, with its power or its network, is noticed although nothing
/// is sent to it: after `idle` of silence it is asked every `interval`, and it counts as gone when
/// it has answered nothing for `timeout`, neither questions nor data. So does one that lives, but
/// takes nothing of what it is sent for so long. Whole seconds from 1 to 32,767.
struct TcpKeepalive {
  std::chrono::seconds idle = defaults::keepalive_idle;
  std::chrono::seconds interval = defaults::keepalive_interval;
  std::chrono::seconds timeout = defaults::keepalive_timeout;
};

} // namespace datastream
