#include <datastream/hooks/process_event.hpp>

#include <datastream/model/json_text.hpp>

#include <cstdint>

namespace datastream {
namespace {

struct EventText {
  std::string& out;

  void operator()(const ProcessStarted& event) const {
    out += R"({"event":"started","pid":)";
    append_json_integer(out, std::int64_t{event.pid});
    out += '}';
  }
  void operator()(const ProcessSpawnFailed& event) const {
    out += R"({"event":"spawn_failed","error":)";
    append_json_string(out, event.error);
    out += '}';
  }
  void operator()(const ProcessExited& event) const {
    out += R"({"event":"exited","status":)";
    switch (event.status.kind) {
    case ProcessExit::Kind::code:
      append_status("code", event.status.value);
      break;
    case ProcessExit::Kind::signal:
      append_status("signal", event.status.value);
      break;
    case ProcessExit::Kind::unknown:
      out += R"({"kind":"unknown"})";
      break;
    }
    out += '}';
  }
  void operator()(const ProcessFault& event) const {
    out += R"({"event":"error","error":)";
    append_json_string(out, event.error);
    out += '}';
  }

  void append_status(std::string_view kind, int value) const {
    out.append(R"({"kind":")").append(kind).append(R"(","value":)");
    append_json_integer(out, std::int64_t{value});
    out += '}';
  }
};

} // namespace

std::string to_json(const ProcessEvent& event) {
  std::string out;
  std::visit(EventText{out}, event);
  return out;
}

} // namespace datastream
