#include <datastream/envelope/admission.hpp>

#include <new>
#include <optional>
#include <utility>

namespace datastream {

FrameBatch FrameAdmission::admit(const PeerName& peer, const FrameBatch& batch, Time now) noexcept {
  const std::size_t count = batch.size();
  if (count == 0)
    return {};
  ledger_.arrived += count;
  if (kept_out_.contains(batch.stream())) {
    ledger_.returned += count;
    return {};
  }
  try {
    const auto at = open(batch.shared_stream(), now);
    if (at == streams_.end()) {
      ledger_.too_many_streams += count;
      return {};
    }
    Stream& stream = at->second;
    const bool others = stream.peer && !stream.peer->has_left && stream.peer->name != peer &&
                        now - stream.last_frame < options_.claim_silence;
    if (others) {
      ledger_.contested += count;
      if (options_.refuse_contested) {
        ledger_.refused_contested += count;
        return {};
      }
    } else {
      claim(stream, peer);
      stream.last_frame = now;
      by_age_.splice(by_age_.end(), by_age_, stream.age);
    }
    return let_in(at->first, stream.seen, batch);
  } catch (const std::bad_alloc&) {
    ledger_.out_of_memory += count;
    return {};
  }
}

/// Counts every frame of the batch, and lets in those that are new.
FrameBatch FrameAdmission::let_in(const StreamIdPtr& id, PositionSet& seen,
                                  const FrameBatch& batch) noexcept {
  const auto headers = batch.headers();
  std::optional<FrameBatchWriter> chosen; // nothing as long as the batch can be let in as it is
  std::size_t at = 0;
  try {
    if (batch.shared_stream() != id)
      chosen.emplace(headers.size());
    for (; at < headers.size(); ++at) {
      if (seen.insert(headers[at].position)) {
        if (chosen)
          chosen->append(headers[at]);
        continue;
      }
      if (!chosen) {
        chosen.emplace(headers.size());
        for (const FrameHeader& before : headers.first(at))
          chosen->append(before);
      }
      ++ledger_.duplicates;
    }
  } catch (const std::bad_alloc&) {
    ledger_.out_of_memory += headers.size() - at;
  }
  const std::size_t count = chosen ? chosen->size() : at;
  ledger_.admitted += count;
  if (count == 0 || !chosen)
    return batch.slice(0, count);
  return std::move(*chosen).finish(id, batch.block());
}

/// Its place, or a new one; the end: there is no room for it.
FrameAdmission::Streams::iterator FrameAdmission::open(const StreamIdPtr& id, Time now) {
  if (const auto known = streams_.find(id); known != streams_.end())
    return known;
  if (!has_room(*id)) {
    forget_silent(now);
    if (!has_room(*id))
      return streams_.end();
  }
  std::list<const StreamId*> youngest{id.get()};
  const auto opened = streams_.try_emplace(id).first;
  opened->second.last_frame = now;
  opened->second.age = youngest.begin();
  by_age_.splice(by_age_.end(), youngest);
  names_bytes_ += id->node.value.size();
  return opened;
}

bool FrameAdmission::has_room(const StreamId& id) const noexcept {
  return streams_.size() < options_.streams_max &&
         id.node.value.size() <= options_.names_bytes_max - names_bytes_;
}

/// Looks only at those that it forgets, and one: each frame of a flood of streams comes here.
void FrameAdmission::forget_silent(Time now) noexcept {
  while (!by_age_.empty()) {
    const auto oldest = streams_.find(*by_age_.front());
    if (now - oldest->second.last_frame < options_.claim_silence)
      return;
    forget(oldest);
  }
}

void FrameAdmission::forget(Streams::iterator stream) noexcept {
  let_go(stream->second.peer);
  names_bytes_ -= stream->first->node.value.size();
  by_age_.erase(stream->second.age);
  streams_.erase(stream);
}

bool FrameAdmission::forget(const StreamId& stream) noexcept {
  if (const auto known = streams_.find(stream); known != streams_.end()) {
    forget(known);
    return true;
  }
  return kept_out_.erase(stream) != 0;
}

void FrameAdmission::claim(Stream& stream, const PeerName& name) {
  if (stream.peer && !stream.peer->has_left && stream.peer->name == name)
    return;
  auto known = peers_.find(name);
  if (known == peers_.end())
    known = peers_.insert(std::make_shared<Peer>(Peer{.name = name})).first;
  let_go(stream.peer);
  stream.peer = *known;
}

/// A stream has this peer no longer. One that has no stream need not be known.
void FrameAdmission::let_go(PeerPtr& peer) noexcept {
  constexpr long stream_and_set = 2;
  if (peer && !peer->has_left && peer.use_count() == stream_and_set)
    peers_.erase(peer);
  peer.reset();
}

void FrameAdmission::peer_left(const PeerName& peer) noexcept {
  const auto known = peers_.find(peer);
  if (known == peers_.end())
    return;
  (*known)->has_left = true; // which all its streams see
  peers_.erase(known);
}

bool FrameAdmission::keep_out(const StreamId& stream) {
  if (kept_out_.contains(stream))
    return true;
  if (streams_.contains(stream))
    return false;
  kept_out_.insert(stream);
  return true;
}

const PeerName* FrameAdmission::sender_of(const StreamId& stream) const {
  const auto known = streams_.find(stream);
  return known == streams_.end() || !known->second.peer ? nullptr : &known->second.peer->name;
}

} // namespace datastream
