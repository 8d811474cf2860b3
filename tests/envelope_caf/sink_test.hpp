#pragma once
/// What tests of envelopes between actors share.

#include <actor_test.hpp>

#include <datastream/envelope/codec.hpp>
#include <datastream/envelope_caf/sink_actor.hpp>
#include <datastream/envelope_caf/type_ids.hpp>

#include <doctest/doctest.h>

#include <caf/typed_response_promise.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace datastream::test {

struct EnvelopeConfig : Config {
  EnvelopeConfig() { compat::load<caf::id_block::datastream_envelope>(*this); }
};

struct EnvelopeSystem {
  EnvelopeConfig config;
  caf::actor_system system{config};
};

inline std::string envelope(const StreamId& stream, std::uint64_t position,
                            const std::string& payload, std::uint32_t channel = 1) {
  std::string bytes;
  REQUIRE(encode_envelope(bytes, stream, {{channel}, {position}, payload, {}}));
  return bytes;
}

/// Somebody who sends envelopes as requests, one at a time.
class Courier {
public:
  Courier(caf::actor_system& system, caf::actor sink)
      : thread_(system), self_(system), sink_(std::move(sink)) {}

  /// Whether it was answered, and not with an error.
  bool deliver(std::string bytes) {
    bool answered = false;
    compat::request(self_.ptr(), sink_, std::chrono::seconds(20), DatastreamFrame{std::move(bytes)})
        .receive([&] { answered = true; }, [](const caf::error&) {});
    return answered;
  }

private:
  compat::ThreadLogger thread_;
  caf::scoped_actor self_;
  caf::actor sink_;
};

inline SinkLedger ledger_of(caf::actor_system& system, const caf::actor& sink) {
  const auto ledger = ask<SinkLedger>(system, sink, ledger_atom_v);
  REQUIRE(ledger);
  CHECK(ledger->balanced());
  return *ledger;
}

/// Takes batches as a consumer does, and answers nothing until it is released.
class HeldTaker {
public:
  explicit HeldTaker(caf::actor_system& system) {
    actor_ = system.spawn([state = state_](caf::event_based_actor* self) -> caf::behavior {
      return {
          [=](publish_atom, const EventBatch& batch) {
            auto promise = self->make_response_promise<EndpointTick>();
            state->frames += batch.frames.size();
            ++state->batches;
            if (state->released)
              promise.deliver(EndpointTick{});
            else
              state->held.push_back(promise);
            return promise;
          },
          [](publish_atom, const SubscriptionStart&) { return EndpointTick{}; },
          [=](tick_atom) {
            for (auto& promise : std::exchange(state->held, {}))
              promise.deliver(EndpointTick{});
          },
          [=](wake_atom) {
            state->released = true;
            for (auto& promise : std::exchange(state->held, {}))
              promise.deliver(EndpointTick{});
          },
      };
    });
  }
  ~HeldTaker() { stop(actor_); }

  const caf::actor& actor() const { return actor_; }
  /// Answers what has come so far, and goes on holding.
  void answer_held() { compat::anon_send(actor_, tick_atom_v); }
  void release() { compat::anon_send(actor_, wake_atom_v); }
  std::uint64_t frames() const { return state_->frames; }
  std::uint64_t batches() const { return state_->batches; }

private:
  struct State {
    std::atomic<std::uint64_t> frames{0};
    std::atomic<std::uint64_t> batches{0};
    // Of the actor.
    bool released = false;
    std::vector<caf::typed_response_promise<EndpointTick>> held{};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  caf::actor actor_;
};

} // namespace datastream::test
