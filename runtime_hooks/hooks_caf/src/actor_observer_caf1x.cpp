#include <datastream/hooks_caf/actor_observer.hpp>

#include "observation.hpp"
#include "worker.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/detail/actor_system_config_access.hpp>
#include <caf/detail/default_mailbox.hpp>
#include <caf/detail/mailbox_factory.hpp>
#include <caf/intrusive/stack.hpp>
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

/// Where CAF keeps the messages that an actor has skipped, until it puts them back. Nothing else
/// tells a skipped message from one that was handled. Only explicit instantiations may name a
/// private member.
using Stash = caf::intrusive::stack<caf::mailbox_element>;
Stash& stash_of(caf::scheduled_actor& actor);

template <Stash caf::scheduled_actor::* Member>
struct StashOf {
  friend Stash& stash_of(caf::scheduled_actor& actor) { return actor.*Member; }
};
template struct StashOf<&caf::scheduled_actor::stash_>;

/// The message that was skipped last and not put back yet. Null: there is none.
caf::mailbox_element* last_of(Stash& stash) {
  caf::mailbox_element* const last = stash.pop();
  if (last)
    stash.push(last);
  return last;
}

/// A mailbox that counts. A message is being handled from when it is taken until the next one is
/// asked for; then it was skipped if it is in the stash.
class CountingMailbox final : public caf::detail::default_mailbox {
  using Base = caf::detail::default_mailbox;

public:
  CountingMailbox(caf::scheduled_actor& owner, std::shared_ptr<Observation> observation)
      : owner_(owner), stats_(std::make_shared<ActorStats>(std::move(observation), owner.id())) {}

  caf::intrusive::inbox_result push_back(caf::mailbox_element_ptr element) override {
    stats_->arrived();
    return Base::push_back(std::move(element));
  }
  void push_front(caf::mailbox_element_ptr element) override {
    if (element.get() == handling_)
      skipped();
    if (element.get() == skipped_)
      skipped_ = last_of(stash_of(owner_)); // it waits on, and CAF has taken it from the stash
    else
      stats_->arrived(); // a new one, from a `caf::mail_cache`
    Base::push_front(std::move(element));
  }
  caf::mailbox_element_ptr pop_front() override {
    finish();
    caf::mailbox_element_ptr element = Base::pop_front();
    if (element) {
      stats_->handling(owner_, message_type_key(*element),
                       [&] { return message_type_name(*element); });
      handling_ = element.get();
    }
    return element;
  }
  bool try_block() override {
    finish();
    return Base::try_block();
  }
  std::size_t close(const caf::error& reason) override {
    finish();
    stats_->end(owner_.system(), reason);
    return Base::close(reason);
  }

private:
  void finish() {
    if (!handling_)
      return;
    if (handling_ == last_of(stash_of(owner_)))
      return skipped();
    handling_ = nullptr;
    stats_->handled();
  }
  void skipped() {
    skipped_ = std::exchange(handling_, nullptr);
    stats_->skipped();
  }

  caf::scheduled_actor& owner_;
  const std::shared_ptr<ActorStats> stats_;
  // Only compared, for what was handled is gone.
  const caf::mailbox_element* handling_ = nullptr; // taken, and its fate is not known yet
  const caf::mailbox_element* skipped_ = nullptr;  // that was skipped last and is not put back yet
};

class CountingMailboxes final : public caf::detail::mailbox_factory {
public:
  explicit CountingMailboxes(std::shared_ptr<Observation> observation)
      : observation_(std::move(observation)) {}
  caf::abstract_mailbox* make(caf::scheduled_actor* owner) override {
    return new CountingMailbox(*owner, observation_);
  }
  caf::abstract_mailbox* make(caf::blocking_actor*) override { // which have one of their own
    return new caf::detail::default_mailbox;
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
