#pragma once
/// Requests to actors that may be gone, or whose answers may get lost.

#include <datastream/caf/monitors.hpp>
#include <datastream/caf/version.hpp>

#include <caf/abstract_actor.hpp>
#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/behavior.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>
#include <caf/message_id.hpp>
#include <caf/sec.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace datastream::compat {

/// Why a request was not answered, from the error that came instead. CAF 1.0 sends an empty one in
/// place of an actor that had ended before it was asked.
inline caf::error why_unanswered(const caf::error& came) {
  return came ? came : caf::make_error(caf::sec::request_receiver_down);
}

namespace detail {

inline caf::mailbox_element_ptr envelope(caf::strong_actor_ptr sender, caf::message_id id,
                                         caf::message content) {
#if DATASTREAM_CAF_1X
  return caf::make_mailbox_element(std::move(sender), id, std::move(content));
#else
  return caf::make_mailbox_element(std::move(sender), id, caf::no_stages, std::move(content));
#endif
}

/// Answers a request in place of an actor that has ended with that reason.
inline void answer_for(const caf::actor_addr& asker, caf::message_id answer,
                       const caf::error& reason) {
  if (const auto alive = caf::actor_cast<caf::strong_actor_ptr>(asker))
    alive->enqueue(envelope(nullptr, answer, caf::make_message(why_unanswered(reason))), nullptr);
}

} // namespace detail

/// Asks without a timeout, and calls one of the two functions: later, when `Self` is event-based,
/// or before it returns, when it blocks. CAF answers a request to an actor of its own system when
/// that ends, but not one that was on its way when the connection to another process broke: that
/// one is answered here, with the reason.
template <class Self, class OnAnswer, class OnError, class... Ts>
void request_to_the_end(Self* self, const caf::actor& to, OnAnswer on_answer, OnError on_error,
                        Ts&&... parts) {
  const caf::message_id question = self->new_request_id(caf::message_priority::normal);
  const caf::message_id answer = question.response_id();
  const auto asker = caf::actor_cast<caf::actor>(self);
  std::shared_ptr<detail::AtEnd> watch;
  if (to && to->node() != self->node())
    watch = std::make_shared<detail::AtEnd>(
        to, [address = asker.address(), answer](const caf::error& reason) {
          detail::answer_for(address, answer, reason);
        });
  const auto post = [&](const caf::actor& receiver, caf::strong_actor_ptr sender, auto id,
                        caf::message content) {
    caf::actor_cast<caf::abstract_actor*>(receiver)->enqueue(
        detail::envelope(std::move(sender), id, std::move(content)), self->context());
  };
  if (to)
    post(to, caf::actor_cast<caf::strong_actor_ptr>(asker), question,
         caf::make_message(std::forward<Ts>(parts)...));
  else
    post(asker, nullptr, answer, caf::make_message(caf::make_error(caf::sec::invalid_argument)));
  if constexpr (std::is_base_of_v<caf::scheduled_actor, Self>) {
    self->add_multiplexed_response_handler(
        answer, caf::behavior{std::move(on_answer), [watch, on_error](caf::error& reason) mutable {
                                on_error(why_unanswered(reason));
                              }});
  } else {
    typename Self::accept_one_cond once;
    self->varargs_receive(once, answer, std::move(on_answer),
                          [&](caf::error& reason) { on_error(why_unanswered(reason)); });
  }
}

} // namespace datastream::compat
