#pragma once
/// Telemetry as plain CAF would do it: one message a frame and subscriber.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace reference::caf_messages {

/// Called in a subscriber's handler, with channel, position and payload.
using Reader = std::function<void(std::uint32_t, std::uint64_t, std::string_view)>;

/// A publisher and subscriber actors, one for each reader. One thread publishes.
///
/// CAF's mailboxes have no bound: whoever publishes has to see that readers keep up.
class Fanout {
public:
  virtual ~Fanout() = default;
  /// Sends a frame to every subscriber.
  virtual void publish(std::uint32_t channel, std::string_view payload) = 0;
};

/// All in one actor system.
std::unique_ptr<Fanout> make_local_fanout(std::size_t workers, const std::vector<Reader>& readers);

/// Subscribers in a second actor system, reached through the middleman over TCP on 127.0.0.1.
std::unique_ptr<Fanout> make_remote_fanout(std::size_t workers, const std::vector<Reader>& readers);

} // namespace reference::caf_messages
