#include "sink_store.hpp"

#include "viewer.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/envelope_caf/sink_actor.hpp>

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF
using namespace std::chrono_literals;

namespace {

/// What an actor of this process answers.
template <class Answer, class... Ts>
std::expected<Answer, caf::error> ask(caf::scoped_actor& self, const caf::actor& whom,
                                      Ts&&... question) {
  std::expected<Answer, caf::error> result;
  compat::request(self.ptr(), whom, 60s, std::forward<Ts>(question)...)
      .receive([&](Answer& answer) { result = std::move(answer); },
               [&](caf::error& error) { result = std::unexpected(std::move(error)); });
  return result;
}

} // namespace

SinkStore::SinkStore(caf::actor_system& system)
    : consumer_(ds::spawn_consumer(system, {.retention = Viewer::retention})),
      sink_(ds::spawn_sink(system, {.into = consumer_}).value()) {}

SinkStore::~SinkStore() {
  caf::anon_send_exit(consumer_, caf::exit_reason::user_shutdown); // ends the sink as well
}

std::expected<std::uint64_t, caf::error>
SinkStore::read(caf::scoped_actor& self, const std::function<void(const ds::FrameBatch&)>& take) {
  const auto streams = ask<std::vector<ds::StreamId>>(self, consumer_, ds::streams_atom_v);
  if (!streams)
    return std::unexpected(streams.error());
  if (streams->empty())
    return 0;
  const ds::StreamId& stream = streams->front(); // only the node sends here
  std::optional<ds::FramePage> page;
  do {
    auto next = ask<ds::FramePage>(self, consumer_, ds::page_atom_v, stream,
                                   page ? page->next : ds::Position{0}, std::uint32_t{4096});
    if (!next)
      return std::unexpected(std::move(next.error()));
    page = *std::move(next);
    take(page->frames);
  } while (page->more);
  const auto ledger = ask<ds::IngestLedger>(self, consumer_, ds::ledger_atom_v, stream);
  if (!ledger)
    return std::unexpected(ledger.error());
  return ledger->stored;
}
