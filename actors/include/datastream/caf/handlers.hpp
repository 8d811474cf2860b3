#pragma once
/// Handlers for what an actor's own handlers do not take.

#include <datastream/caf/version.hpp>

#include <caf/after.hpp>
#include <caf/behavior.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/catch_all.hpp>
#include <caf/detail/blocking_behavior.hpp>
#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/message.hpp>
#include <caf/message_handler.hpp>
#include <caf/message_id.hpp>
#include <caf/result.hpp>
#include <caf/sec.hpp>
#include <caf/system_messages.hpp>
#if DATASTREAM_CAF_1X
#include <memory>
#else
#include <caf/message_view.hpp>
#endif

#include <chrono>
#include <type_traits>
#include <utility>

namespace datastream::compat {

/// For the list of an actor's handlers: its `on_exit` runs before those who watch the actor learn
/// of its end, as CAF 0.17.6 has it anyway. CAF 1.x calls it once more afterwards.
inline auto exit_before_watchers([[maybe_unused]] caf::event_based_actor* self) {
#if DATASTREAM_CAF_1X
  // An actor that ends lets go of its handlers first. When it is destroyed without having ended,
  // `on_exit` was called, and this one is the empty one of its base.
  const std::shared_ptr<caf::scheduled_actor> last(
      self, [](caf::scheduled_actor* ending) { ending->on_exit(); });
  return [last](const caf::timeout_msg&) {}; // which CAF keeps to itself
#else
  return [](const caf::timeout_msg&) {};
#endif
}

/// For the list of an actor's handlers: `handle(const caf::error&)` is called for an error that
/// somebody sends it, which then does not end it.
template <class Handle>
Handle handle_errors([[maybe_unused]] caf::event_based_actor* self, Handle handle) {
#if !DATASTREAM_CAF_1X
  self->set_error_handler(handle); // prevails over the other handlers
#endif
  return handle;
}

/// The behavior of an actor that calls `tell()` for whatever its own handlers do not take, and then
/// answers `unexpected_message`.
template <class Tell>
caf::behavior telling_unexpected([[maybe_unused]] caf::event_based_actor* self,
                                 const caf::behavior& own, Tell tell) {
#if DATASTREAM_CAF_1X
  // A handler for any message takes also those that would end the actor.
  const auto end = [self](const caf::exit_msg& request) { self->quit(request.reason); };
  const auto answer = [tell](const caf::message&) -> caf::result<caf::message> {
    tell();
    return caf::sec::unexpected_message;
  };
  return caf::message_handler(own.as_behavior_impl()).or_else(end, answer);
#else
  self->set_default_handler([tell](caf::scheduled_actor*, caf::message_view&) {
    tell();
    return caf::result<caf::message>(caf::sec::unexpected_message);
  });
  return own;
#endif
}

/// The handlers of an actor that receives by itself. They take every message: what they do not
/// handle is answered `unexpected_message`. CAF would leave it lying, and wait for another.
class BlockingHandlers {
  static auto others() {
#if DATASTREAM_CAF_1X
    const auto refuse = [](caf::message&) -> caf::skippable_result {
      return caf::make_error(caf::sec::unexpected_message);
    };
#else
    const auto refuse = [](caf::message_view&) -> caf::result<caf::message> {
      return caf::make_error(caf::sec::unexpected_message);
    };
#endif
    return caf::catch_all<std::decay_t<decltype(refuse)>>(refuse);
  }

public:
  explicit BlockingHandlers(caf::behavior own) : handlers_(std::move(own)) {}

  /// Waits for a message, and handles it.
  void receive(caf::blocking_actor* self) {
    auto all = caf::detail::make_blocking_behavior(&handlers_, others());
    receive(self, all);
  }
  /// The same, when there is one already. False: there was none, or only a response that nobody
  /// waits for, which CAF hands to no handler.
  bool receive_now(caf::blocking_actor* self) {
    bool handled = true;
    auto all = caf::detail::make_blocking_behavior(
        &handlers_, others(), caf::after(std::chrono::seconds(0)) >> [&] { handled = false; });
    receive(self, all);
    return handled;
  }

private:
  static void receive(caf::blocking_actor* self, caf::detail::blocking_behavior& all) {
    caf::blocking_actor::accept_one_cond once;
    self->receive_impl(once, caf::make_message_id(), all);
  }

  caf::behavior handlers_;
};

} // namespace datastream::compat
