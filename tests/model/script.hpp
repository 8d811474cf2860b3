#pragma once
/// What is done to a pipe: small values, drawn at random, that mean something only together with
/// the state that they meet. Any sequence of them may be done, so any part of one is a script too.

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/pipe/mux.hpp>

#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

namespace datastream::model_test {

enum class ActionKind : std::uint8_t {
  register_channel,
  submit,
  submit_many,
  submit_too_large,
  submit_to_past_life,
  submit_health,
  tick,
  drain_directly,
  end,
  restart,
  subscribe,
  read,
  leave,
  stray_acknowledgement,
  carry,
  carry_twice,
  lose,
  forge,
  forget,
  query,
};

constexpr std::string_view to_string(ActionKind kind) {
  constexpr std::string_view names[] = {"register_channel",
                                        "submit",
                                        "submit_many",
                                        "submit_too_large",
                                        "submit_to_past_life",
                                        "submit_health",
                                        "tick",
                                        "drain_directly",
                                        "end",
                                        "restart",
                                        "subscribe",
                                        "read",
                                        "leave",
                                        "stray_acknowledgement",
                                        "carry",
                                        "carry_twice",
                                        "lose",
                                        "forge",
                                        "forget",
                                        "query"};
  return names[static_cast<std::size_t>(kind)];
}

/// One action. The numbers choose: a channel, a reader, a payload; each is taken modulo what there
/// is to choose from, and smaller ones are simpler.
struct Action {
  ActionKind kind = ActionKind::tick;
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  std::uint16_t z = 0;
  friend bool operator==(const Action&, const Action&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const Action& action) {
  return out << to_string(action.kind) << '(' << action.x << ", " << action.y << ", " << action.z
             << ')';
}

struct Script {
  MuxOptions mux{};
  Retention retention{};
  std::vector<Action> actions;
};

} // namespace datastream::model_test
