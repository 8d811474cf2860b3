#include "actor_test.hpp"
#include "log_recorder.hpp"

#include <datastream/actors/settings.hpp>

#include <doctest/doctest.h>

#include <sstream>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// A configuration as a program makes it, with what its command line and configuration file say.
struct ProgramConfig : Config {
  ProgramConfig(std::vector<std::string> words, const std::string& file) {
    add_options(custom_options_);
    std::istringstream contents(file);
    parsed = parse(std::move(words), contents);
  }
  caf::error parsed;
};

/// In the syntax of each CAF.
constexpr auto configuration_file = "datastream {\n  mux-frames = 3\n}\n";

} // namespace

TEST_CASE("configuration_keys_set_every_option_of_an_endpoint") {
  Config config;
  caf::put(config.content, "datastream.mux-frames", 10);
  caf::put(config.content, "datastream.mux-bytes", 2000);
  caf::put(config.content, "datastream.tick-interval", caf::timespan(5ms));
  caf::put(config.content, "datastream.health-interval", caf::timespan(3s));
  caf::put(config.content, "datastream.close-deadline", caf::timespan(7s));
  caf::put(config.content, "datastream.fanout", "own_actor");
  const auto options = configured({.node = "n", .tick_interval = 1ms}, config);
  REQUIRE(options);
  CHECK(options->node == NodeId{"n"});
  CHECK(options->mux.frames == 10);
  CHECK(options->mux.bytes == 2000);
  CHECK(options->tick_interval == 5ms);
  CHECK(options->health_interval == 3s);
  CHECK(options->close_deadline == 7s);
  CHECK(options->fanout == FanoutPlacement::own_actor);
}

TEST_CASE("without_keys_the_program_s_own_options_stand") {
  const Config config;
  const auto options =
      configured({.node = "n", .mux = {.frames = 7}, .fanout = FanoutPlacement::own_actor}, config);
  REQUIRE(options);
  CHECK(options->mux.frames == 7);
  CHECK(options->mux.bytes == defaults::mux_bytes);
  CHECK(options->tick_interval == defaults::tick_interval);
  CHECK(options->fanout == FanoutPlacement::own_actor);
}

TEST_CASE("a_setting_of_the_wrong_type_or_out_of_range_is_named") {
  const auto refusal = [](const char* key, auto value) {
    Config config;
    caf::put(config.content, key, value);
    const auto options = configured({.node = "n"}, config);
    REQUIRE_FALSE(options);
    CHECK(options.error() == caf::make_error(ActorError::bad_setting));
    const std::string text = to_string(options.error().context());
    CHECK(text.find(key) != text.npos);
  };
  refusal("datastream.mux-frames", "many");
  refusal("datastream.mux-frames", 0);
  refusal("datastream.mux-bytes", -1);
  refusal("datastream.tick-interval", 5);
  refusal("datastream.tick-interval", caf::timespan(0));
  refusal("datastream.tick-interval", caf::timespan(-1s));
  refusal("datastream.health-interval", caf::timespan(-1s));
  refusal("datastream.close-deadline", "soon");
  refusal("datastream.fanout", "elsewhere");
}

TEST_CASE("an_endpoint_takes_its_settings_from_its_system_s_configuration") {
  const std::vector<std::string> command_line{"--datastream.mux-frames=3"};
  for (const bool from_file : {false, true}) {
    ProgramConfig config(from_file ? std::vector<std::string>{} : command_line,
                         from_file ? configuration_file : "");
    REQUIRE_FALSE(config.parsed);
    caf::actor_system system{config};
    Endpoint node{system, {.node = "n", .tick_interval = EndpointOptions::manual}};
    for (int i = 0; i < 5; ++i)
      node.producer().submit_text(ChannelId{1}, "x");
    CHECK(node.ledger().in_mux == 3);
    CHECK(node.ledger().refused.mux_frames_full == 2);
  }
}

TEST_CASE("a_wrong_setting_is_logged_and_the_endpoint_opens_as_its_program_says") {
  Config config;
  caf::put(config.content, "datastream.mux-frames", -4);
  LogRecorder log;
  caf::actor_system system{config};
  Endpoint node{system,
                {.node = "n", .mux = {.frames = 2}, .tick_interval = EndpointOptions::manual}};
  for (int i = 0; i < 5; ++i)
    node.producer().submit_text(ChannelId{1}, "x");
  CHECK(node.ledger().in_mux == 2);
  REQUIRE(log.lines().size() == 1);
  CHECK(log.lines()[0].starts_with("error: "));
  CHECK(log.lines()[0].find("datastream.mux-frames") != std::string::npos);
}

TEST_CASE("recommended_settings_give_way_to_the_program_s_own") {
  Config config;
  recommended_settings(config);
  compat::set(config, "middleman.heartbeat-interval", caf::timespan(77ms));
  const auto now = [&](const char* name) {
    return caf::get_or(config, compat::setting(name), caf::timespan(0));
  };
  CHECK(now("middleman.heartbeat-interval") == 77ms);
  CHECK(now("middleman.connection-timeout") == 5s);
}
