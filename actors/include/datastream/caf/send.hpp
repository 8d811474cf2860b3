#pragma once
/// Sending messages, written once for every CAF.

#include <datastream/caf/version.hpp>

#include <caf/actor.hpp>
#include <caf/event_based_actor.hpp>
#if DATASTREAM_CAF_1X
#include <caf/anon_mail.hpp>
#else
#include <caf/send.hpp>
#endif

#include <utility>

namespace datastream::compat {

#if DATASTREAM_CAF_1X

template <class Self, class Handle, class... Ts>
void send(Self* self, const Handle& to, Ts&&... parts) {
  self->mail(std::forward<Ts>(parts)...).send(to);
}
template <class Self, class Handle, class Delay, class... Ts>
void delayed_send(Self* self, const Handle& to, Delay delay, Ts&&... parts) {
  self->mail(std::forward<Ts>(parts)...).delay(delay).send(to);
}
template <class Handle, class... Ts>
void anon_send(const Handle& to, Ts&&... parts) {
  caf::anon_mail(std::forward<Ts>(parts)...).send(to);
}
template <class Self, class Handle, class Timeout, class... Ts>
auto request(Self* self, const Handle& to, Timeout timeout, Ts&&... parts) {
  return self->mail(std::forward<Ts>(parts)...).request(to, timeout);
}
template <class Self, class Handle, class... Ts>
auto delegate(Self* self, const Handle& to, Ts&&... parts) {
  return self->mail(std::forward<Ts>(parts)...).delegate(to);
}

#else

template <class Self, class Handle, class... Ts>
void send(Self* self, const Handle& to, Ts&&... parts) {
  self->send(to, std::forward<Ts>(parts)...);
}
template <class Self, class Handle, class Delay, class... Ts>
void delayed_send(Self* self, const Handle& to, Delay delay, Ts&&... parts) {
  self->delayed_send(to, delay, std::forward<Ts>(parts)...);
}
template <class Handle, class... Ts>
void anon_send(const Handle& to, Ts&&... parts) {
  caf::anon_send(to, std::forward<Ts>(parts)...);
}
template <class Self, class Handle, class Timeout, class... Ts>
auto request(Self* self, const Handle& to, Timeout timeout, Ts&&... parts) {
  return self->request(to, timeout, std::forward<Ts>(parts)...);
}
template <class Self, class Handle, class... Ts>
auto delegate(Self* self, const Handle& to, Ts&&... parts) {
  return self->delegate(to, std::forward<Ts>(parts)...);
}

#endif

} // namespace datastream::compat
