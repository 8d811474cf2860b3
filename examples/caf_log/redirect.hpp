#pragma once
/// Where CAF prints.

#include <datastream/pipe/producer.hpp>

#include <caf/fwd.hpp>

#include <memory>

/// What CAF and its actors print goes to a channel instead of the console. One at a time.
class ConsoleRedirection {
public:
  ConsoleRedirection(caf::actor_system& system, datastream::DatastreamProducer out,
                     datastream::ChannelId channel);
  ~ConsoleRedirection();

private:
  struct State;
  std::unique_ptr<State> state_;
};
