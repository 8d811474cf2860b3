#pragma once
/// CAF's settings, and ours in CAF's configuration.

#include <datastream/actors/endpoint_options.hpp>
#include <datastream/caf/version.hpp>

#include <caf/error.hpp>
#include <caf/fwd.hpp>

#include <expected>

namespace datastream {

/// Sets what CAF 0.17.6 leaves off by default and telemetry between processes needs: a heartbeat,
/// so that a frozen peer is noticed, and no automatic connections. Call it before the program's own
/// settings are read, which then prevail. Both processes need it: one that expects heartbeats cuts
/// a silent connection to a peer that sends none.
///
/// A frozen peer is noticed after five seconds. CAF 1.x needs thirty by its own defaults, and goes
/// back to them when it loads the middleman: for five, load it before, as `compat::load` does.
void recommended_settings(caf::actor_system_config& config);

/// Lets the command line know our keys; configuration files need not be told. In the constructor of
/// a program's own configuration: `datastream::add_options(custom_options_);`.
void add_options(caf::config_option_set& options);

/// `options` with what the configuration says in its place; `Endpoint` does this by itself. Keys:
///
///     datastream.mux-frames        integer   MuxOptions::frames
///     datastream.mux-bytes         integer   MuxOptions::bytes
///     datastream.tick-interval     timespan  EndpointOptions::tick_interval
///     datastream.health-interval   timespan  EndpointOptions::health_interval
///     datastream.close-deadline    timespan  EndpointOptions::close_deadline
///     datastream.fanout            string    "in_endpoint" or "own_actor"
///
/// Errors: `bad_setting`, with the key, when a value has another type or is out of range.
std::expected<EndpointOptions, caf::error> configured(EndpointOptions options,
                                                      const caf::actor_system_config& config);

} // namespace datastream
