#pragma once
/// Learning that another actor is gone.

#include <datastream/caf/send.hpp>

#include <caf/abstract_actor.hpp>
#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/attachable.hpp>
#include <caf/error.hpp>
#include <caf/fwd.hpp>

#include <cstdint>
#include <functional>
#include <random>
#include <utility>

namespace datastream::compat {

namespace detail {

#if DATASTREAM_CAF_1X
using ExecutionContext = caf::scheduler;
#else
using ExecutionContext = caf::execution_unit;
#endif

/// Calls a function when the actor that it is attached to ends. A key finds it again.
class DownAttachable final : public caf::attachable {
public:
  using Tell = std::function<void(const caf::error&)>;

  DownAttachable(const void* key, Tell tell) : key_(key), tell_(std::move(tell)) {}
  void actor_exited(const caf::error& reason, ExecutionContext*) override { tell_(reason); }
  bool matches(const token& what) override {
    return what.subtype == token::anonymous && what.ptr == key_;
  }

private:
  const void* key_;
  Tell tell_;
};

/// While it exists: calls a function when `target` ends. Keeps nobody alive.
class AtEnd {
public:
  AtEnd(const caf::actor& target, DownAttachable::Tell tell) : target_(target.address()) {
    target->attach(caf::attachable_ptr(new DownAttachable(this, std::move(tell))));
  }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() {
    if (const auto target = caf::actor_cast<caf::actor>(target_))
      target->detach(caf::attachable::token(caf::attachable::token::anonymous, this));
  }

private:
  caf::actor_addr target_;
};

} // namespace detail

/// While it exists: sends `parts..., reason` to `watcher` when `target` ends, however it ends, also
/// when the connection to its process breaks. Takes no handler slot of the watcher and keeps
/// neither actor alive.
class DownWatch {
public:
  template <class... Ts>
  DownWatch(const caf::actor& target, const caf::actor& watcher, Ts... parts)
      : at_end_(target, [to = watcher.address(), parts...](const caf::error& reason) {
          if (const auto alive = caf::actor_cast<caf::actor>(to))
            compat::anon_send(alive, parts..., reason);
        }) {}

private:
  detail::AtEnd at_end_;
};

/// The same for actors that strangers can send to: what it sends is `parts..., ticket, reason`, and
/// nobody else can guess the ticket. So a watcher that asks `sent` believes no forged word, nor a
/// late one of an earlier watch.
class TicketedDownWatch {
public:
  template <class... Ts>
  TicketedDownWatch(const caf::actor& target, const caf::actor& watcher, Ts... parts)
      : ticket_(new_ticket()), watch_(target, watcher, parts..., ticket_) {}

  bool sent(std::uint64_t ticket) const noexcept { return ticket == ticket_; }

private:
  static std::uint64_t new_ticket() {
    std::random_device random;
    return std::uniform_int_distribution<std::uint64_t>()(random);
  }

  std::uint64_t ticket_;
  DownWatch watch_;
};

/// Keeps the actor system of `self` from stopping its modules until everybody who begins to watch
/// `self` after this call has been sent word of its end. By itself a system waits only until its
/// actors have ended, and a middleman that stops before it has handled the word for a watcher in
/// another process keeps the actor; if that is detached, the system waits for it for ever.
template <class Self>
void hold_system_until_told(Self* self) {
  caf::actor_registry& registry = self->home_system().registry();
  registry.inc_running();
  // What was attached first runs last.
  static_cast<caf::abstract_actor*>(self)->attach_functor([&registry] { registry.dec_running(); });
}

} // namespace datastream::compat
