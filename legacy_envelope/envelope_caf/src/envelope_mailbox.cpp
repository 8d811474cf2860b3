#include "envelope_mailbox.hpp"

#include <datastream/actors/type_ids.hpp>
#include <datastream/envelope/codec.hpp>
#include <datastream/model/block.hpp>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/error.hpp>
#include <caf/sec.hpp>

#include <new>
#include <utility>

namespace datastream {

EnvelopeMailbox::Promise EnvelopeMailbox::receive(const DatastreamFrame& frame) {
  // Before the promise, which takes the sender out of the message.
  const auto address = caf::actor_cast<caf::actor_addr>(self_->current_sender());
  auto promise = self_->make_response_promise<caf::unit_t>();
  ++messages_;
  const auto envelope = decode_envelope(frame.payload);
  const std::size_t bytes = overhead + frame.payload.size();
  if (!envelope || bytes > bytes_max_ - waiting_bytes_) {
    if (envelope)
      ++sink_full_;
    else
      malformed_.count(envelope.error());
    promise.deliver(caf::unit);
    return promise;
  }
  Sender& sender = sender_at(address);
  sender.envelopes += frame.payload;
  sender.sizes.push_back(frame.payload.size());
  waiting_bytes_ += bytes;
  ++waiting_;
  waiting_promises_.push_back(promise);
  if (!feed_.busy())
    flush();
  return promise;
}

EnvelopeMailbox::Sender& EnvelopeMailbox::sender_at(const caf::actor_addr& address) {
  const auto [at, is_new] = senders_.try_emplace(address);
  if (is_new) {
    at->second.name = {link_, "actor " + to_string(address)};
    if (const auto sender = caf::actor_cast<caf::actor>(address))
      at->second.watch.emplace(sender, caf::actor(self_), sender_down_atom_v, address);
  }
  return at->second;
}

void EnvelopeMailbox::left(const caf::actor_addr& sender, std::uint64_t ticket) {
  const auto known = senders_.find(sender);
  if (known == senders_.end() || !known->second.watch || !known->second.watch->sent(ticket))
    return;
  // What it sent last goes ahead of what others send of its streams.
  offer(known->second);
  feed_.admission().peer_left(known->second.name);
  senders_.erase(known);
}

void EnvelopeMailbox::taken_over() {
  for (Promise& promise : std::exchange(offered_promises_, {}))
    promise.deliver(caf::unit);
  if (waiting_ > 0)
    flush();
}

void EnvelopeMailbox::close() {
  for (auto* promises : {&offered_promises_, &waiting_promises_})
    for (Promise& promise : *promises)
      promise.deliver(caf::make_error(caf::sec::request_receiver_down));
  senders_.clear();
}

void EnvelopeMailbox::flush() {
  for (auto& [address, sender] : senders_)
    offer(sender);
  offered_promises_ = std::exchange(waiting_promises_, {});
  if (!feed_.busy()) // nothing was let in
    taken_over();
}

void EnvelopeMailbox::offer(Sender& sender) {
  if (sender.sizes.empty())
    return;
  waiting_ -= sender.sizes.size();
  waiting_bytes_ -= sender.sizes.size() * overhead + sender.envelopes.size();
  const BlockPtr block = adopt_string(std::exchange(sender.envelopes, {}));
  if (!block)
    throw std::bad_alloc();
  batches_.clear();
  std::size_t begin = 0;
  for (const std::size_t size : std::exchange(sender.sizes, {})) {
    const auto envelope = decode_envelope({block->data() + begin, size});
    begin += size;
    if (!batcher_.add(*envelope, block)) {
      batcher_.take(block, batches_);
      batcher_.add(*envelope, block);
    }
  }
  batcher_.take(block, batches_);
  for (const FrameBatch& batch : batches_)
    feed_.offer(sender.name, batch);
}

void EnvelopeMailbox::add_to(SinkLedger& ledger) const {
  ledger.messages += messages_;
  ledger.malformed += malformed_;
  ledger.sink_full += sink_full_;
  ledger.waiting += waiting_;
}

} // namespace datastream
