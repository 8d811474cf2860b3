#include <datastream/hooks_caf/actor_observer.hpp>

#include "observation.hpp"
#include "worker.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/detail/actor_system_config_access.hpp>
#include <caf/detail/default_mailbox.hpp>
#include <caf/detail/mailbox_factory.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/thread_hook.hpp>
#include <caf/thread_owner.hpp>

#include <atomic>
#include <utility>

namespace datastream {
namespace detail {
namespace {

/// Which of its system's workers a thread is.
thread_local std::size_t this_worker = 0;
thread_local bool is_worker = false;

/// Numbers the workers, in the order in which they start.
class WorkerNumbers final : public caf::thread_hook {
public:
  explicit WorkerNumbers(std::shared_ptr<std::atomic<std::size_t>> workers)
      : workers_(std::move(workers)) {}
  void init(caf::actor_system&) override {}
  void thread_started(caf::thread_owner owner) override {
    is_worker = owner == caf::thread_owner::scheduler;
    if (is_worker)
      this_worker = workers_->fetch_add(1);
  }
  void thread_terminates() override {}

private:
  std::shared_ptr<std::atomic<std::size_t>> workers_;
};

std::uint64_t message_type_key(const caf::mailbox_element& element) {
  const caf::type_id_list types = element.payload.types();
  std::uint64_t key = 0x9e3779b97f4a7c15ULL ^ types.size();
  for (std::size_t i = 0; i < types.size(); ++i) {
    key = (key ^ types[i]) * 0xff51afd7ed558ccdULL;
    key ^= key >> 32U;
  }
  return key | 1U;
}

/// For people: `(type, type, ...)`.
std::string message_type_name(const caf::mailbox_element& element) {
  std::string name = caf::to_string(element.payload.types()); // [type, type, ...]
  if (name.size() >= 2) {
    name.front() = '(';
    name.back() = ')';
  }
  return name;
}

/// A mailbox that counts. A message is handled from when it is taken until the next one is asked
/// for.
template <class Owner>
class CountingMailbox final : public caf::detail::default_mailbox {
  using Base = caf::detail::default_mailbox;

public:
  CountingMailbox(Owner& owner, std::shared_ptr<Observation> observation)
      : owner_(owner), stats_(std::make_shared<ActorStats>(std::move(observation), owner.id())) {}

  caf::intrusive::inbox_result push_back(caf::mailbox_element_ptr element) override {
    stats_->arrived();
    return Base::push_back(std::move(element));
  }
  void push_front(caf::mailbox_element_ptr element) override { // put back, to be taken again
    stats_->arrived();
    Base::push_front(std::move(element));
  }
  caf::mailbox_element_ptr pop_front() override {
    finish();
    caf::mailbox_element_ptr element = Base::pop_front();
    if (element) {
      stats_->handling(owner_, message_type_key(*element),
                       [&] { return message_type_name(*element); });
      handling_ = true;
    }
    return element;
  }
  bool try_block() override {
    finish();
    return Base::try_block();
  }
  std::size_t close(const caf::error& reason) override {
    finish();
    stats_->end(poison_of(owner_.system(), reason));
    return Base::close(reason);
  }

private:
  void finish() {
    if (std::exchange(handling_, false))
      stats_->handled();
  }

  Owner& owner_;
  const std::shared_ptr<ActorStats> stats_;
  bool handling_ = false;
};

class CountingMailboxes final : public caf::detail::mailbox_factory {
public:
  explicit CountingMailboxes(std::shared_ptr<Observation> observation)
      : observation_(std::move(observation)) {}
  caf::abstract_mailbox* make(caf::scheduled_actor* owner) override {
    return new CountingMailbox<caf::scheduled_actor>(*owner, observation_);
  }
  caf::abstract_mailbox* make(caf::blocking_actor* owner) override {
    return new CountingMailbox<caf::blocking_actor>(*owner, observation_);
  }

private:
  std::shared_ptr<Observation> observation_;
};

} // namespace

std::size_t worker_of(const caf::local_actor& self) {
  static_cast<void>(self);
  return is_worker ? this_worker : detached_worker;
}

} // namespace detail

ActorObserver::ActorObserver(ObserveOptions options)
    : observation_(std::make_shared<detail::Observation>(std::move(options))) {}

ActorObserver::~ActorObserver() {
  observation_->stop();
}

void ActorObserver::install(caf::actor_system_config& config) {
  config.add_thread_hook<detail::WorkerNumbers>(std::make_shared<std::atomic<std::size_t>>(0));
  caf::detail::actor_system_config_access access{config};
  access.mailbox_factory(std::make_unique<detail::CountingMailboxes>(observation_));
}

void ActorObserver::install_everywhere(caf::actor_system_config& config) {
  install(config);
}

void ActorObserver::report_to(std::shared_ptr<StatsHook> hook) const {
  observation_->report_to(std::move(hook));
}

} // namespace datastream
