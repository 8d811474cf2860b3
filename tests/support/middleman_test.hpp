#pragma once
/// What tests share that talk to a second process.

#include "actor_test.hpp"
#include "child_process.hpp"
#include "quick_heartbeats.hpp"

#include <datastream/actors/remote.hpp>
#include <datastream/actors/settings.hpp>

#include <caf/io/middleman.hpp>

namespace datastream::test {

struct RemoteConfig : Config {
  RemoteConfig() {
    compat::load<caf::io::middleman>(*this);
    recommended_settings(*this);
  }
};

/// An actor system that other processes can talk to.
struct RemoteSystem {
  RemoteConfig config;
  caf::actor_system system{config};
};

/// One that notices soon when others are silent.
struct QuickSystem {
  struct QuickConfig : RemoteConfig {
    QuickConfig() { quick_heartbeats(*this); }
  };
  QuickConfig config;
  caf::actor_system system{config};
};

/// A second process, see `actor_peer.cpp`.
template <class... Words>
std::unique_ptr<ChildProcess> peer(const Words&... words) {
  return std::make_unique<ChildProcess>(std::vector<std::string>{ACTOR_PEER, words...});
}

inline std::uint16_t port_of(ChildProcess& publisher) {
  return static_cast<std::uint16_t>(std::stoul(publisher.expect("port")));
}

} // namespace datastream::test
