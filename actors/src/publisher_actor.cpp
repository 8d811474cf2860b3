#include <datastream/actors/publisher_actor.hpp>

#include <datastream/actors/detail/peer_errors.hpp>
#include <datastream/actors/detail/sent_from_here.hpp>

#include <datastream/caf/request.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <utility>

namespace datastream {

PublisherActor::PublisherActor(caf::actor_config& config) : caf::event_based_actor(config) {}

caf::behavior PublisherActor::make_behavior() {
  return {
      [this](offer_atom, const std::string& name, const caf::actor& actor) {
        return offer(name, actor);
      },
      [this](withdraw_atom, const std::string& name) { return withdraw(name); },
      [this](find_atom, const std::string& name) { return find(name); },
      [this](names_atom) {
        OfferedNames offered;
        for (const auto& [name, offer] : offers_)
          offered.names.push_back(name);
        return offered;
      },
      [this](down_atom, const std::string& name, std::uint64_t ticket, const caf::error&) {
        const auto it = offers_.find(name);
        if (it != offers_.end() && it->second.watch.sent(ticket))
          offers_.erase(it);
      },
      peer_errors(this),
  };
}

void PublisherActor::on_exit() {
  offers_.clear();
}

caf::result<bool> PublisherActor::offer(const std::string& name, const caf::actor& actor) {
  if (!sent_from_here(*this))
    return caf::make_error(ActorError::not_local, name);
  if (!actor)
    return caf::make_error(ActorError::no_actor, name);
  if (const auto it = offers_.find(name); it != offers_.end()) {
    if (it->second.actor != actor)
      return caf::make_error(ActorError::name_taken, name);
    return true;
  }
  offers_.try_emplace(name, actor, caf::actor(this), name);
  return true;
}

caf::result<bool> PublisherActor::withdraw(const std::string& name) {
  if (!sent_from_here(*this))
    return caf::make_error(ActorError::not_local, name);
  return offers_.erase(name) > 0;
}

caf::result<caf::actor> PublisherActor::find(const std::string& name) const {
  const auto it = name.empty() && offers_.size() == 1 ? offers_.begin() : offers_.find(name);
  if (it == offers_.end())
    return caf::make_error(ActorError::unknown_name, name);
  return it->second.actor;
}

Publisher::Publisher(caf::actor_system& system) : system_(&system) {
  const compat::ThreadLogger thread(system);
  actor_ = system.spawn<PublisherActor>();
}

Publisher::Publisher(Publisher&& other) noexcept
    : system_(other.system_), actor_(std::exchange(other.actor_, nullptr)) {}

Publisher& Publisher::operator=(Publisher&& other) noexcept {
  if (this != &other) {
    stop();
    system_ = other.system_;
    actor_ = std::exchange(other.actor_, nullptr);
  }
  return *this;
}

Publisher::~Publisher() {
  stop();
}

void Publisher::stop() noexcept {
  if (actor_)
    caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
  actor_ = nullptr;
}

std::expected<void, caf::error> Publisher::offer(const std::string& name,
                                                 const EndpointRef& endpoint) {
  std::expected<void, caf::error> result;
  const compat::ThreadLogger thread(*system_);
  caf::scoped_actor self{*system_};
  compat::request(self.ptr(), actor_, caf::infinite, offer_atom_v, name, endpoint.actor())
      .receive([](bool) {},
               [&](const caf::error& error) {
                 result = std::unexpected(compat::why_unanswered(error));
               });
  return result;
}

bool Publisher::withdraw(const std::string& name) {
  bool result = false;
  const compat::ThreadLogger thread(*system_);
  caf::scoped_actor self{*system_};
  compat::request(self.ptr(), actor_, caf::infinite, withdraw_atom_v, name)
      .receive([&](bool was_there) { result = was_there; }, [](const caf::error&) {});
  return result;
}

} // namespace datastream
