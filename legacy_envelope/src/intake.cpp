#include "intake.hpp"

#include <datastream/defaults.hpp>
#include <datastream/envelope/codec.hpp>

#include <new>
#include <utility>

namespace datastream {
void EnvelopeIntake::add(std::string_view bytes, const BlockPtr& block) noexcept {
  const auto envelope = decode_envelope(bytes);
  if (!envelope) {
    malformed_.count(envelope.error());
    return;
  }
  try {
    note(*envelope, block);
  } catch (const std::bad_alloc&) {
    ++out_of_memory_;
  }
}

void EnvelopeIntake::note(const EnvelopeView& envelope, const BlockPtr& block) {
  if (batcher_.size() < defaults::batch_frames && batcher_.add(envelope, block))
    return;
  hand_on(block);
  batcher_.add(envelope, block);
}

void EnvelopeIntake::hand_on(const BlockPtr& block) noexcept {
  const std::uint64_t held = batcher_.size();
  const MalformedCounts malformed = std::exchange(malformed_, {});
  const std::uint64_t no_memory = std::exchange(out_of_memory_, 0);
  if (held + malformed.total() + no_memory == 0)
    return;
  counts_.change([&](ReceiverLedger& ledger) {
    ledger.received += held + malformed.total() + no_memory;
    ledger.held += held;
    ledger.malformed += malformed;
    ledger.out_of_memory += no_memory;
  });
  try {
    batcher_.take(block, batches_);
  } catch (const std::bad_alloc&) {
    const std::uint64_t lost = batcher_.size();
    batcher_ = EnvelopeBatcher();
    counts_.change([&](ReceiverLedger& ledger) {
      ledger.held -= lost;
      ledger.out_of_memory += lost;
    });
  }
  for (const FrameBatch& batch : batches_) {
    const auto outcome = give(batch) ? &ReceiverLedger::handed_on : &ReceiverLedger::handler_failed;
    counts_.change([&](ReceiverLedger& ledger) {
      ledger.held -= batch.size();
      ledger.*outcome += batch.size();
    });
  }
  batches_.clear();
}

bool EnvelopeIntake::give(const FrameBatch& batch) noexcept {
  try {
    handlers_.on_batch(peer_, batch);
    return true;
  } catch (...) { // the program's; it is counted, for it could come with every batch
    return false;
  }
}

} // namespace datastream
