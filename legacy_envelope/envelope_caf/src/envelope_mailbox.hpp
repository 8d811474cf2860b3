#pragma once
/// Envelopes that come to an actor as messages.

#include "feed.hpp"

#include <datastream/caf/monitors.hpp>
#include <datastream/envelope/batcher.hpp>
#include <datastream/envelope_caf/type_ids.hpp>

#include <caf/actor_addr.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>
#include <caf/unit.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

/// Takes envelopes as they come, and gives them to a feed many at a time: all that came while what
/// came before was being taken over. A request is answered, empty, when its frame was taken over or
/// is known to go no further.
///
/// Thread safety: for its actor only.
class EnvelopeMailbox {
public:
  using Promise = caf::typed_response_promise<caf::unit_t>;

  /// What an envelope that waits takes besides its bytes: a promise, its size, and as much again,
  /// for they lie in memory that grows by doubling.
  static constexpr std::size_t overhead = 256;

  /// Peers have names on `link`. Envelopes that wait take at most `bytes_max` of memory; what is
  /// beyond is dropped. Whoever sent something is watched: `sender_down_atom` tells its end.
  EnvelopeMailbox(caf::event_based_actor* self, Feed& feed, std::size_t link, std::size_t bytes_max)
      : self_(self), feed_(feed), link_(link), bytes_max_(std::min(bytes_max, block_max)) {}

  /// Takes the current message of the actor.
  Promise receive(const DatastreamFrame& frame);
  /// An actor is gone, whether it has sent something or not.
  void left(const caf::actor_addr& sender, std::uint64_t ticket);
  /// The feed has taken over what it was given: answers, and gives it what waits.
  void taken_over();
  /// The actor ends: those who wait for an answer get an error.
  void close();

  /// Adds what is counted here.
  void add_to(SinkLedger& ledger) const;

private:
  /// All envelopes of a sender may lie in one block, whose offsets have 32 bits.
  static constexpr std::size_t block_max = std::numeric_limits<std::uint32_t>::max();

  struct Sender {
    PeerName name{};
    std::optional<compat::TicketedDownWatch> watch{}; // none for those who do not say who they are
    std::string envelopes{};                          // that wait, one behind the other
    std::vector<std::size_t> sizes{};
  };

  Sender& sender_at(const caf::actor_addr& address);
  void flush();
  void offer(Sender& sender);

  caf::event_based_actor* self_;
  Feed& feed_;
  std::size_t link_;
  std::size_t bytes_max_;

  std::map<caf::actor_addr, Sender> senders_;
  std::vector<Promise> waiting_promises_;
  std::vector<Promise> offered_promises_;
  std::size_t waiting_bytes_ = 0;
  EnvelopeBatcher batcher_;
  std::vector<FrameBatch> batches_; // memory that is used again

  std::uint64_t messages_ = 0;
  MalformedCounts malformed_;
  std::uint64_t sink_full_ = 0;
  std::uint64_t waiting_ = 0;
};

} // namespace datastream
