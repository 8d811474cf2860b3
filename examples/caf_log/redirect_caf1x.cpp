// CAF 1.x calls a function with what it would print.
#include "redirect.hpp"

#include <caf/actor_system.hpp>
#include <caf/term.hpp>

#include <string_view>
#include <utility>

namespace ds = datastream;

struct ConsoleRedirection::State {};

namespace {

struct Target {
  ds::DatastreamProducer out;
  ds::ChannelId channel;
};

} // namespace

ConsoleRedirection::ConsoleRedirection(caf::actor_system& system, ds::DatastreamProducer out,
                                       ds::ChannelId channel) {
  system.redirect_text_output(
      new Target{std::move(out), channel},
      [](void* target, caf::term, const char* text, std::size_t size) {
        const auto& to = *static_cast<Target*>(target);
        to.out.submit_text(to.channel, std::string_view(text, size));
      },
      [](void* target) { delete static_cast<Target*>(target); });
}

ConsoleRedirection::~ConsoleRedirection() = default;
