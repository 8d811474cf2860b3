#pragma once
/// Subscribing at somebody's request.

#include <datastream/actors/subscriber.hpp>
#include <datastream/actors/type_ids.hpp>

#include <caf/actor.hpp>
#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/result.hpp>
#include <caf/typed_response_promise.hpp>

#include <memory>
#include <utility>

namespace datastream {

/// Subscribes `self` to an endpoint, and answers the request that it is handling when the
/// subscription has begun, after `handlers.on_start`, or with the error that came instead. For
/// handlers of `self` only.
inline caf::result<SubscriptionStart> follow(caf::event_based_actor* self, Subscriber& subscriber,
                                             const caf::actor& endpoint,
                                             SubscriptionHandlers handlers, Subscribe request) {
  // Shared: a copy of a promise would not know that another one has answered.
  const auto promise = std::make_shared<caf::typed_response_promise<SubscriptionStart>>(
      self->make_response_promise<SubscriptionStart>());
  handlers.on_start = [promise,
                       then = std::move(handlers.on_start)](const SubscriptionStart& start) {
    if (then)
      then(start);
    promise->deliver(start);
  };
  handlers.on_down = [promise](const caf::error& reason) {
    if (promise->pending())
      promise->deliver(reason);
  };
  subscriber.subscribe(EndpointRef(endpoint), std::move(handlers), std::move(request));
  return *promise;
}

} // namespace datastream
