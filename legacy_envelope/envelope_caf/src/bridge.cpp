#include <datastream/envelope_caf/bridge.hpp>

#include "bridge_actor.hpp"
#include "deadline.hpp"
#include "failure.hpp"

#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/render.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace datastream {
namespace {

using Receiver =
    std::variant<std::monostate, std::unique_ptr<UdpReceiver>, std::unique_ptr<TcpReceiver>>;

std::unexpected<CarrierError> bad_option(std::string message) {
  return failure(CarrierError::Kind::bad_option, std::move(message));
}

std::unexpected<CarrierError> bad_option(std::size_t link, const std::string& what) {
  return bad_option("link " + std::to_string(link) + " of a bridge: " + what);
}

template <class Opened>
std::expected<std::unique_ptr<EnvelopeSender>, CarrierError> as_sender(Opened opened) {
  if (!opened)
    return std::unexpected(std::move(opened.error()));
  return std::move(*opened);
}

/// Null for a link that does not send.
std::expected<std::unique_ptr<EnvelopeSender>, CarrierError> open_sender(caf::actor_system& system,
                                                                         const LegacyLink& link) {
  if (const auto* udp = std::get_if<UdpPeer>(&link.send_to))
    return as_sender(UdpSender::open(*udp));
  if (const auto* tcp = std::get_if<TcpPeer>(&link.send_to))
    return as_sender(TcpSender::open(*tcp));
  if (const auto* sink = std::get_if<SinkPeer>(&link.send_to))
    return as_sender(ActorSender::open(system, *sink));
  return nullptr;
}

std::expected<Receiver, CarrierError> open_receiver(const LegacyLink& link,
                                                    ReceiverHandlers handlers) {
  const auto as_receiver = [](auto opened) -> std::expected<Receiver, CarrierError> {
    if (!opened)
      return std::unexpected(std::move(opened.error()));
    return std::move(*opened);
  };
  if (const auto* udp = std::get_if<UdpListen>(&link.listen))
    return as_receiver(UdpReceiver::open(*udp, std::move(handlers)));
  if (const auto* tcp = std::get_if<TcpListen>(&link.listen))
    return as_receiver(TcpReceiver::open(*tcp, std::move(handlers)));
  return Receiver();
}

std::expected<void, CarrierError> check(const BridgeOptions& options) {
  for (std::size_t i = 0; i < options.links.size(); ++i) {
    const LegacyLink& link = options.links[i];
    const bool sends = !std::holds_alternative<std::monostate>(link.send_to);
    const bool listens = !std::holds_alternative<std::monostate>(link.listen);
    if (!sends && !listens)
      return bad_option(i, "neither sends nor listens");
    if (sends && std::holds_alternative<std::monostate>(options.from))
      return bad_option(i, "nothing to send, for there is no `from`");
    if (listens && !options.into)
      return bad_option(i, "nobody to feed, for there is no `into`");
  }
  return {};
}

} // namespace

struct Bridge::State {
  explicit State(caf::actor_system& of) : system(&of) {}
  ~State() { stop(); }

  ReceiverHandlers handlers_of(std::size_t link) const;
  std::expected<void, CarrierError> subscribe(const caf::actor& endpoint) const;
  BridgeLedger ledger() const;
  void stop();

  caf::actor_system* system;
  std::shared_ptr<BridgeParts> parts = std::make_shared<BridgeParts>();
  caf::actor actor;
  std::vector<Receiver> receivers;    // in the order of the links
  std::optional<BridgeLedger> last{}; // of a bridge that is closed
  bool all_left = true;               // when it was closed
};

/// Ends what receives before what it hands on to, and that before what it sends with.
void Bridge::State::stop() {
  parts->arrivals.close();
  receivers.clear();
  if (actor) {
    const compat::ThreadLogger thread(*system);
    caf::scoped_actor self{*system};
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    self->wait_for(actor);
    actor = nullptr;
  }
  parts->senders.clear();
}

/// Waits until the subscription has begun: what is submitted from then on is sent.
std::expected<void, CarrierError> Bridge::State::subscribe(const caf::actor& endpoint) const {
  std::expected<void, CarrierError> result;
  caf::scoped_actor self{*system};
  compat::request(self.ptr(), actor, caf::infinite, follow_atom_v, endpoint)
      .receive([](const SubscriptionStart&) {},
               [&](const caf::error& reason) {
                 result = bad_option("the endpoint that a bridge is to send: " +
                                     compat::render(*system, reason));
               });
  return result;
}

ReceiverHandlers Bridge::State::handlers_of(std::size_t link) const {
  const auto wake = [address = actor.address()] {
    if (const auto alive = caf::actor_cast<caf::actor>(address))
      compat::anon_send(alive, poll_atom_v);
  };
  return {.on_batch =
              [parts = parts, wake, link](const std::string& peer, const FrameBatch& batch) {
                if (!parts->arrivals.push({{link, peer}, batch}, wake))
                  throw std::runtime_error("the bridge has ended"); // the receiver counts the batch
              },
          .on_left = [parts = parts, wake, link](
                         const std::string& peer) { parts->arrivals.push({{link, peer}}, wake); }};
}

std::expected<Bridge, CarrierError> Bridge::open(caf::actor_system& system, BridgeOptions options) {
  if (const auto valid = check(options); !valid)
    return std::unexpected(valid.error());
  const compat::ThreadLogger thread(system);
  auto state = std::make_unique<State>(system);
  const std::vector<LegacyLink> links = options.links;
  for (const LegacyLink& link : links) {
    auto sender = open_sender(system, link);
    if (!sender)
      return std::unexpected(std::move(sender.error()));
    state->parts->senders.push_back(std::move(*sender));
  }
  const auto* const endpoint = std::get_if<EndpointRef>(&options.from);
  const caf::actor from = endpoint ? endpoint->actor() : nullptr;
  if (endpoint && !from)
    return bad_option("the endpoint that a bridge is to send is closed");
  state->actor = system.spawn<BridgeActor, caf::detached>(state->parts, std::move(options));
  for (std::size_t i = 0; i < links.size(); ++i) {
    auto receiver = open_receiver(links[i], state->handlers_of(i));
    if (!receiver)
      return std::unexpected(std::move(receiver.error()));
    state->receivers.push_back(std::move(*receiver));
  }
  if (from)
    if (const auto begun = state->subscribe(from); !begun)
      return std::unexpected(begun.error());
  return Bridge(std::move(state));
}

Bridge::Bridge(std::unique_ptr<State> state) : state_(std::move(state)) {}
Bridge::Bridge(Bridge&& other) noexcept = default;
Bridge& Bridge::operator=(Bridge&& other) noexcept = default;
Bridge::~Bridge() = default;

const caf::actor& Bridge::actor() const noexcept {
  return state_->actor;
}

std::uint16_t Bridge::port(std::size_t link) const {
  if (link >= state_->receivers.size())
    return 0;
  return std::visit(
      [](const auto& receiver) -> std::uint16_t {
        if constexpr (requires { receiver->port(); })
          return receiver->port();
        else
          return 0;
      },
      state_->receivers[link]);
}

BridgeLedger Bridge::ledger() const {
  return state_->last ? *state_->last : state_->ledger();
}

BridgeLedger Bridge::State::ledger() const {
  BridgeLedger result;
  for (std::size_t i = 0; i < receivers.size(); ++i) {
    LinkLedger link;
    if (const auto& sender = parts->senders[i])
      link.sent = sender->ledger();
    std::visit(
        [&](const auto& receiver) {
          if constexpr (requires { receiver->ledger(); })
            link.received = receiver->ledger();
        },
        receivers[i]);
    result.links.push_back(link);
  }
  const compat::ThreadLogger thread(*system);
  caf::scoped_actor self{*system};
  compat::request(self.ptr(), actor, caf::infinite, ledger_atom_v)
      .receive([&](const SinkLedger& arrived) { result.arrived = arrived; },
               [&](const caf::error&) {
                 self->wait_for(actor); // it ends: what it leaves is complete then
                 result.arrived = parts->last;
               });
  const ArrivalQueue::Counts arrivals = parts->arrivals.counts();
  result.waiting = arrivals.waiting;
  result.discarded = arrivals.discarded;
  return result;
}

bool Bridge::forget(const StreamId& stream) {
  bool known = false;
  if (!state_->actor)
    return known;
  const compat::ThreadLogger thread(*state_->system);
  caf::scoped_actor self{*state_->system};
  compat::request(self.ptr(), state_->actor, caf::infinite, forget_atom_v, stream)
      .receive([&](bool was) { known = was; }, [](const caf::error&) { /* it ends */ });
  return known;
}

bool Bridge::close(std::chrono::milliseconds deadline) {
  if (state_->last)
    return state_->all_left;
  const auto limit = deadline_in(deadline);
  for (const auto& sender : state_->parts->senders) {
    const auto left = limit - std::chrono::steady_clock::now();
    if (sender)
      state_->all_left &=
          sender->flush(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left),
                                 std::chrono::milliseconds(0)));
  }
  // From here on receivers bring nothing, and what is known is final.
  state_->parts->arrivals.close();
  state_->last = state_->ledger();
  state_->stop();
  return state_->all_left;
}

} // namespace datastream
