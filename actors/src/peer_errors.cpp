#include <datastream/actors/detail/peer_errors.hpp>

#include <datastream/caf/render.hpp>
#include <datastream/log_sink.hpp>

#include <caf/actor_system.hpp>

#include <string>
#include <utility>

namespace datastream {

void PeerErrorLog::note(const caf::local_actor& self, const caf::error& error) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) {
    ++unsaid_;
    return;
  }
  next_ = now + std::chrono::seconds(1);
  std::string text = std::string(self.name()) +
                     " ignored an error that a peer sent: " + compat::render(self.system(), error);
  if (const std::uint64_t others = std::exchange(unsaid_, 0); others != 0)
    text += ", and " + std::to_string(others) + " before it";
  log_message(LogSeverity::warning, text);
}

} // namespace datastream
