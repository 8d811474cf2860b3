#pragma once
/// See `spawn_observed.hpp`.

#include <datastream/hooks_caf/actor_stats.hpp>
#include <datastream/hooks_caf/message_type_caf017.hpp>

#include <caf/actor_system.hpp>
#include <caf/infer_handle.hpp>
#include <caf/invoke_message_result.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/spawn_options.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace datastream {

namespace detail {

/// Null when nobody observes the system.
std::shared_ptr<ActorStats> stats_for(const caf::local_actor& actor);

/// Tells actors that count by themselves from others.
class CountsItself {
public:
  virtual ~CountsItself() = default;
};

/// A user's actor, and what is counted of it.
template <class Base>
class Observed : public Base, public CountsItself {
  static_assert(std::is_base_of_v<caf::scheduled_actor, Base>,
                "CAF lets nobody see the messages of a blocking actor");

public:
  template <class... Ts>
  explicit Observed(caf::actor_config& config, Ts&&... arguments)
      : Base(config, std::forward<Ts>(arguments)...), stats_(stats_for(*this)) {}

  using Base::enqueue;
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override {
    if (stats_)
      stats_->arrived();
    Base::enqueue(std::move(element), unit);
  }

  caf::invoke_message_result consume(caf::mailbox_element& element) override {
    if (!stats_)
      return Base::consume(element);
    stats_->handling(*this, message_type_key(element),
                     [&] { return message_type_name(*this, element); });
    Handled handled{*stats_};
    const caf::invoke_message_result result = Base::consume(element);
    handled.skipped = result == caf::invoke_message_result::skipped;
    return result;
  }

  bool cleanup(caf::error&& reason, caf::execution_unit* unit) override {
    if (stats_)
      stats_->end(this->system(), reason);
    return Base::cleanup(std::move(reason), unit);
  }

private:
  struct Handled { // also when the handler throws
    ActorStats& stats;
    bool skipped = false;
    ~Handled() { skipped ? stats.skipped() : stats.handled(); }
  };

  const std::shared_ptr<ActorStats> stats_;
};

} // namespace detail

template <class T, caf::spawn_options Os = caf::no_spawn_options, class... Ts>
auto spawn_observed(caf::actor_system& system, Ts&&... arguments) {
  return system.spawn<detail::Observed<T>, Os>(std::forward<Ts>(arguments)...);
}

template <caf::spawn_options Os = caf::no_spawn_options, class F, class... Ts>
auto spawn_observed(caf::actor_system& system, F function, Ts&&... arguments) {
  using Actor = caf::infer_impl_from_fun_t<F>;
  caf::actor_config config;
  caf::detail::init_fun_factory<Actor, F> factory;
  config.init_fun = factory(std::move(function), std::forward<Ts>(arguments)...);
  return system.spawn_impl<detail::Observed<Actor>, Os>(config);
}

} // namespace datastream
