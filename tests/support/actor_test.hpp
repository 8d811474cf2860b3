#pragma once
/// What tests of actors share: a system, a reader that records, requests from a thread.

#include "eventually.hpp"

#include <datastream/actors/endpoint.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/load.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/settings.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace datastream::test {

/// A configuration that knows our messages, with few workers.
struct Config : caf::actor_system_config {
  explicit Config(std::size_t workers = 2) {
    compat::load<caf::id_block::datastream>(*this);
    compat::set(*this, "scheduler.max-threads", workers);
  }
};

/// An actor system for one test.
struct TestSystem {
  explicit TestSystem(std::size_t workers = 2) : config(workers), system(config) {}
  Config config;
  caf::actor_system system;
};

/// A request from this thread: the answer, or the error that came instead.
template <class Answer, class... Parts>
std::expected<Answer, caf::error> ask(caf::actor_system& system, const caf::actor& actor,
                                      Parts&&... parts) {
  const compat::ThreadLogger thread(system);
  caf::scoped_actor self{system};
  std::expected<Answer, caf::error> result = std::unexpected(caf::error{});
  compat::request(self.ptr(), actor, std::chrono::seconds(20), std::forward<Parts>(parts)...)
      .receive([&](Answer& answer) { result = std::move(answer); },
               [&](caf::error& reason) { result = std::unexpected(std::move(reason)); });
  return result;
}

/// What one subscription of a reader saw, in its order. Read from any thread.
class Seen {
public:
  struct Events {
    std::vector<std::string> log; ///< start, declare NAME, frame NAME PAYLOAD, ended, down
    std::uint64_t batches = 0;
    std::uint64_t frames = 0;
    std::uint64_t dropped = 0;
    std::uint64_t malformed = 0;
    std::uint64_t gaps = 0; ///< positions skipped between frames
    bool ascending = true;
    std::optional<Position> last{};
    std::optional<SubscriptionStart> start{};
    std::optional<StreamEnd> ended{};
    std::uint64_t downs = 0;
    caf::error reason{};
  };

  /// Frames are logged one by one only if asked to.
  explicit Seen(bool log_frames = false) : log_frames_(log_frames) {}

  void started(const SubscriptionStart& start) {
    const std::lock_guard lock(mutex_);
    events_.log.emplace_back("start");
    events_.start = start;
  }
  void received(const EventBatch& batch) {
    const std::lock_guard lock(mutex_);
    ++events_.batches;
    for (const Declaration& declaration : batch.declarations)
      if (const auto* channel = std::get_if<ChannelDescriptorPtr>(&declaration))
        events_.log.push_back("declare " + (*channel)->name);
    batch.each([&](const FrameView& frame) {
      if (events_.last) {
        events_.ascending &= *events_.last < frame.position;
        events_.gaps += frame.position.value - events_.last->value - 1;
      }
      events_.last = frame.position;
      ++events_.frames;
      if (log_frames_)
        events_.log.push_back("frame " + std::string(frame.name) + " " +
                              std::string(frame.payload));
    });
    events_.dropped = batch.dropped;
    events_.malformed += batch.malformed;
    if (batch.ended) {
      events_.ended = batch.ended;
      events_.log.emplace_back("ended");
    }
  }
  void down(const caf::error& reason) {
    const std::lock_guard lock(mutex_);
    ++events_.downs;
    events_.reason = reason;
    events_.log.emplace_back("down");
  }

  Events now() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  std::uint64_t frames() const {
    const std::lock_guard lock(mutex_);
    return events_.frames;
  }
  bool has_started() const { return now().start.has_value(); }
  bool has_ended() const { return now().ended.has_value(); }

private:
  const bool log_frames_;
  mutable std::mutex mutex_;
  Events events_;
};
using SeenPtr = std::shared_ptr<Seen>;

inline SubscriptionHandlers recording(const SeenPtr& seen) {
  return {.on_batch = [seen](const EventBatch& batch) { seen->received(batch); },
          .on_start = [seen](const SubscriptionStart& start) { seen->started(start); },
          .on_down = [seen](const caf::error& reason) { seen->down(reason); }};
}

/// An actor that subscribes once and records.
inline caf::behavior recorder(caf::event_based_actor* self, const EndpointRef& endpoint,
                              const SeenPtr& seen, const Subscribe& request) {
  Subscriber in{self};
  in.subscribe(endpoint, recording(seen), request);
  return in.handlers();
}

inline caf::actor spawn_recorder(caf::actor_system& system, const EndpointRef& endpoint,
                                 const SeenPtr& seen, const Subscribe& request = {}) {
  return system.spawn(recorder, endpoint, seen, request);
}

inline void stop(const caf::actor& actor) {
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

inline std::uint64_t outstanding(const PipeLedger& ledger) {
  std::uint64_t sum = 0;
  for (const SubscriberLedger& entry : ledger.fanout.subscribers)
    sum += entry.counts.outstanding;
  return sum;
}

} // namespace datastream::test
