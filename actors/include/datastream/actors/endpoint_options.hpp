#pragma once
/// How an endpoint is opened.

#include <datastream/defaults.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/pipe/mux.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace datastream {

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
  /// Time between two drains while frames come.
  std::chrono::microseconds tick_interval = defaults::tick_interval;
  /// Time between health records on `datastream.health`; zero: only on request.
  std::chrono::milliseconds health_interval{0};
  /// How long `close` waits for subscriber actors to acknowledge.
  std::chrono::milliseconds close_deadline = defaults::close_deadline;
};

} // namespace datastream
