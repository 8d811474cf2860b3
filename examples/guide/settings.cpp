// Settings from the command line and from files, and a place for what the library has to say.
#include <datastream/actors.hpp>
#include <datastream/log_sink.hpp>

#include <iostream>

namespace ds = datastream;

struct Config : caf::actor_system_config {
  Config() {
    ds::recommended_settings(*this);
    ds::add_options(custom_options_);
  }
};

void caf_main(caf::actor_system& system, const Config& config) {
  ds::set_log_sink([](ds::LogSeverity severity, std::string_view line) {
    std::cout << to_string(severity) << ": " << line << '\n';
  });
  const auto options = ds::configured({.node = "demo"}, config);
  if (options)
    std::cout << "close waits " << options->close_deadline.count() << " ms\n";
  ds::Endpoint node{system, {.node = "demo"}}; // reads the configuration by itself
}

CAF_MAIN(caf::id_block::datastream)
