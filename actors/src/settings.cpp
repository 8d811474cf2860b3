#include <datastream/actors/settings.hpp>

#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/settings.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/config_option_set.hpp>
#include <caf/config_value.hpp>
#include <caf/settings.hpp>

#include <limits>
#include <string>

namespace datastream {
namespace {

// Arrays, because with clang CAF 0.17.6 takes no pointers for texts.
constexpr char section[] = "datastream";
constexpr char mux_frames[] = "mux-frames";
constexpr char mux_bytes[] = "mux-bytes";
constexpr char tick_interval[] = "tick-interval";
constexpr char health_interval[] = "health-interval";
constexpr char close_deadline[] = "close-deadline";
constexpr char fanout[] = "fanout";

/// Reads keys of our section until one is wrong.
class Section {
public:
  explicit Section(const caf::actor_system_config& config) : content_(caf::content(config)) {}

  template <class Integer>
  void read_count(const char* key, Integer& into) {
    read<std::int64_t>(key, [&](std::int64_t value) {
      if (value < 1)
        return false;
      into = static_cast<Integer>(value);
      return true;
    });
  }
  template <class Duration>
  void read_duration(const char* key, Duration& into, Duration least) {
    read<caf::timespan>(key, [&](caf::timespan value) {
      const auto rounded = std::chrono::floor<Duration>(value);
      if (rounded < least)
        return false;
      into = rounded;
      return true;
    });
  }
  template <class Take>
  void read_text(const char* key, Take take) {
    read<std::string>(key, take);
  }

  const caf::error& error() const { return error_; }

private:
  template <class T, class Take>
  void read(const char* key, Take take) {
    const std::string name = std::string(section) + "." + key;
    const caf::config_value* value = caf::get_if(&content_, name);
    if (!value || error_)
      return;
    const auto typed = caf::get_if<T>(value);
    if (!typed || !take(*typed))
      error_ = caf::make_error(ActorError::bad_setting, name + " = " + caf::to_string(*value));
  }

  const caf::settings& content_;
  caf::error error_;
};

} // namespace

void recommended_settings(caf::actor_system_config& config) {
  using namespace std::chrono_literals;
  compat::set(config, "middleman.heartbeat-interval", caf::timespan(1s));
  compat::set(config, "middleman.connection-timeout", caf::timespan(5s));
  compat::set(config, "middleman.enable-automatic-connections", false);
}

void add_options(caf::config_option_set& options) {
  options.add<std::int64_t>(section, mux_frames, "frames that a mux queues")
      .add<std::int64_t>(section, mux_bytes, "payload bytes that a mux queues")
      .add<caf::timespan>(section, tick_interval, "time between two drains while frames come")
      .add<caf::timespan>(section, health_interval, "time between health records; 0: none")
      .add<caf::timespan>(section, close_deadline, "how long closing waits for subscribers")
      .add<std::string>(section, fanout, "who publishes: in_endpoint or own_actor");
}

std::expected<EndpointOptions, caf::error> configured(EndpointOptions options,
                                                      const caf::actor_system_config& config) {
  using namespace std::chrono_literals;
  Section keys(config);
  keys.read_count(mux_frames, options.mux.frames);
  keys.read_count(mux_bytes, options.mux.bytes);
  keys.read_duration(tick_interval, options.tick_interval, std::chrono::microseconds(1));
  keys.read_duration(health_interval, options.health_interval, 0ms);
  keys.read_duration(close_deadline, options.close_deadline, 0ms);
  keys.read_text(fanout, [&](const std::string& value) {
    const bool own_actor = value == "own_actor";
    options.fanout = own_actor ? FanoutPlacement::own_actor : FanoutPlacement::in_endpoint;
    return own_actor || value == "in_endpoint";
  });
  if (keys.error())
    return std::unexpected(keys.error());
  return options;
}

} // namespace datastream
