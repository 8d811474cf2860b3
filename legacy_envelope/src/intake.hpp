#pragma once

#include <datastream/envelope/batcher.hpp>
#include <datastream/envelope/carrier.hpp>
#include <datastream/model/block.hpp>
#include <datastream/model/frame_batch.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace datastream {

/// A receiver's ledger: its thread writes it, all read it.
class ReceiverCounts {
public:
  /// Changes what belongs together at once.
  template <class Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    change(ledger_);
  }
  ReceiverLedger now() const {
    const std::lock_guard lock(mutex_);
    return ledger_;
  }

private:
  mutable std::mutex mutex_;
  ReceiverLedger ledger_;
};

/// What comes from one peer, on its way to the handler: decoded, in batches, and counted.
///
/// Thread safety: the receiver's thread only.
class EnvelopeIntake {
public:
  EnvelopeIntake(std::string peer, const ReceiverHandlers& handlers, ReceiverCounts& counts)
      : peer_(std::move(peer)), handlers_(handlers), counts_(counts) {}

  /// Takes in what should be one envelope and lies in `block`, the same for all until `hand_on`.
  void add(std::string_view bytes, const BlockPtr& block) noexcept;
  /// Hands on and counts everything since the last time.
  void hand_on(const BlockPtr& block) noexcept;

  const std::string& peer() const noexcept { return peer_; }

private:
  bool give(const FrameBatch& batch) noexcept;
  void note(const EnvelopeView& envelope, const BlockPtr& block);

  const std::string peer_;
  const ReceiverHandlers& handlers_;
  ReceiverCounts& counts_;
  EnvelopeBatcher batcher_;
  std::vector<FrameBatch> batches_;
  // Not yet in the ledger, besides what the batcher has.
  MalformedCounts malformed_;
  std::uint64_t out_of_memory_ = 0;
};

} // namespace datastream
