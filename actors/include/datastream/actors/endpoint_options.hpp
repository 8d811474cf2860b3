#pragma once
/// How an endpoint is opened.

#include <datastream/defaults.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/pipe/mux.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace datastream {

/// Who publishes what an endpoint has drained, and serves its subscriber actors.
enum class FanoutPlacement {
  in_endpoint, ///< the endpoint actor, in the turn in which it drains
  own_actor,   ///< an actor of its own, detached too; one drain at a time is on its way to it
};

/// Everything has a default but the node's name.
///
///     Endpoint node{system, {.node = "demo"}};
struct EndpointOptions {
  /// For `tick_interval`: the endpoint drains only when it is sent `tick_atom`.
  static constexpr std::chrono::microseconds manual{0};

  NodeId node;
  /// A life that this node has not had before; by default a fresh one.
  std::optional<Lifetime> life{};
  std::optional<std::string> label{};
  StreamOrigin origin = StreamOrigin::RemoteNode;
  MuxOptions mux{};
  /// With very many subscribers an actor of its own lets the endpoint answer other messages while
  /// it publishes; with few, the endpoint itself is faster.
  FanoutPlacement fanout = FanoutPlacement::in_endpoint;
  /// Time between two drains while frames come.
  std::chrono::microseconds tick_interval = defaults::tick_interval;
  /// Time between health records on `datastream.health`; zero: only on request.
  std::chrono::milliseconds health_interval{0};
  /// How long `close` waits for subscriber actors to acknowledge.
  std::chrono::milliseconds close_deadline = defaults::close_deadline;
};

} // namespace datastream
