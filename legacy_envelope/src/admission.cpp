#include <datastream/envelope/admission.hpp>

#include <algorithm>
#include <new>

namespace datastream {

void FrameAdmission::admit(const PeerName& peer, const FrameBatch& batch, Time now,
                           std::vector<FrameBatch>& admitted) noexcept {
  const std::size_t count = batch.size();
  if (count == 0)
    return;
  ledger_.arrived += count;
  if (kept_out_.contains(batch.stream())) {
    ledger_.returned += count;
    return;
  }
  Stream* stream = nullptr;
  try {
    stream = open(batch.stream(), peer, now);
    if (!stream) {
      ledger_.too_many_streams += count;
      return;
    }
    if (stream->peer != peer && stream->claimed &&
        now - stream->last_frame < options_.claim_silence) {
      ledger_.contested += count;
      if (options_.refuse_contested) {
        ledger_.refused_contested += count;
        return;
      }
    } else {
      stream->peer = peer;
      stream->claimed = true;
      stream->last_frame = now;
    }
  } catch (const std::bad_alloc&) {
    ledger_.out_of_memory += count;
    return;
  }

  std::size_t begin = 0; // of a run of frames that are new
  const auto let_in = [&](std::size_t end) {
    if (begin == end)
      return;
    try {
      admitted.push_back(batch.slice(begin, end - begin));
      ledger_.admitted += end - begin;
    } catch (const std::bad_alloc&) {
      ledger_.out_of_memory += end - begin;
    }
  };
  std::size_t at = 0;
  for (; at < count; ++at) {
    bool is_new = false;
    try {
      is_new = stream->seen.insert(batch[at].position);
    } catch (const std::bad_alloc&) {
      ledger_.out_of_memory += count - at;
      break;
    }
    if (is_new)
      continue;
    ++ledger_.duplicates;
    let_in(at);
    begin = at + 1;
  }
  let_in(at);
}

FrameAdmission::Stream* FrameAdmission::open(const StreamId& id, const PeerName& peer, Time now) {
  if (const auto known = streams_.find(id); known != streams_.end())
    return &known->second;
  if (streams_.size() >= options_.streams_max && !make_room(now))
    return nullptr;
  return &streams_.try_emplace(id, Stream{.peer = peer, .last_frame = now}).first->second;
}

/// Forgets all streams that were silent for long enough. Looks for them only when there must be
/// one: otherwise each frame of a flood of streams would cost a look at all that are known.
bool FrameAdmission::make_room(Time now) {
  if (now < full_until_)
    return false;
  Time oldest = now;
  std::erase_if(streams_, [&](const auto& entry) {
    oldest = std::min(oldest, entry.second.last_frame);
    return now - entry.second.last_frame >= options_.claim_silence;
  });
  full_until_ = oldest + options_.claim_silence;
  return streams_.size() < options_.streams_max;
}

void FrameAdmission::peer_left(const PeerName& peer) {
  for (auto& [id, stream] : streams_)
    if (stream.peer == peer)
      stream.claimed = false;
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
  return known == streams_.end() ? nullptr : &known->second.peer;
}

} // namespace datastream
