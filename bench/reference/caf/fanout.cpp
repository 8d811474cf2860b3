#include "reference/caf/fanout.hpp"

#include <datastream/caf/load.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/settings.hpp>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/io/middleman.hpp>
#include <caf/message.hpp>
#include <caf/send.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace reference::caf_messages {
namespace {

namespace compat = datastream::compat; // names of CAF's that differ between its versions

class Subscriber final : public caf::event_based_actor {
public:
  Subscriber(caf::actor_config& config, Reader reader)
      : caf::event_based_actor(config), reader_(std::move(reader)) {}

  const char* name() const override { return "bench.subscriber"; }

  caf::behavior make_behavior() override {
    return {[this](std::uint32_t channel, std::uint64_t position, const std::string& payload) {
      reader_(channel, position, payload);
    }};
  }

private:
  Reader reader_;
};

caf::actor_system_config& with_workers(caf::actor_system_config& config, std::size_t workers) {
  compat::set(config, "scheduler.max-threads", workers);
  compat::load<>(config);
  return config;
}

/// The part that both have: sending. A message is built once and shared by all its receivers.
class Publisher : public Fanout {
public:
  ~Publisher() override {
    for (const caf::actor& subscriber : subscribers_)
      caf::anon_send_exit(subscriber, caf::exit_reason::user_shutdown);
  }

  void publish(std::uint32_t channel, std::string_view payload) override {
    const caf::message frame = caf::make_message(channel, position_++, std::string(payload));
    for (const caf::actor& subscriber : subscribers_)
      compat::anon_send(subscriber, frame);
  }

protected:
  std::vector<caf::actor> subscribers_;

private:
  std::uint64_t position_ = 0;
};

struct LocalSystem {
  explicit LocalSystem(std::size_t workers) : system(with_workers(config, workers)) {}
  caf::actor_system_config config;
  caf::actor_system system;
};

class LocalFanout final : private LocalSystem, public Publisher {
public:
  LocalFanout(std::size_t workers, const std::vector<Reader>& readers) : LocalSystem(workers) {
    for (const Reader& reader : readers)
      subscribers_.push_back(system.spawn<Subscriber>(reader));
  }
};

struct MiddlemanConfig : caf::actor_system_config {
  MiddlemanConfig() { compat::load<caf::io::middleman>(*this); }
};

struct TwoSystems {
  explicit TwoSystems(std::size_t workers)
      : near(with_workers(near_config, workers)), far(with_workers(far_config, workers)) {}
  MiddlemanConfig near_config;
  MiddlemanConfig far_config;
  caf::actor_system near;
  caf::actor_system far;
};

class RemoteFanout final : private TwoSystems, public Publisher {
public:
  RemoteFanout(std::size_t workers, const std::vector<Reader>& readers) : TwoSystems(workers) {
    for (const Reader& reader : readers) {
      const auto port = far.middleman().publish(far.spawn<Subscriber>(reader), 0, "127.0.0.1");
      if (!port)
        throw std::runtime_error("cannot publish a subscriber");
      auto subscriber = near.middleman().remote_actor("127.0.0.1", *port);
      if (!subscriber)
        throw std::runtime_error("cannot reach a subscriber");
      subscribers_.push_back(std::move(*subscriber));
    }
  }
};

} // namespace

std::unique_ptr<Fanout> make_local_fanout(std::size_t workers, const std::vector<Reader>& readers) {
  return std::make_unique<LocalFanout>(workers, readers);
}

std::unique_ptr<Fanout> make_remote_fanout(std::size_t workers,
                                           const std::vector<Reader>& readers) {
  return std::make_unique<RemoteFanout>(workers, readers);
}

} // namespace reference::caf_messages
