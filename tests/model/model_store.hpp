#pragma once
/// What a collector has stored, as the model knows it, and what every view must show of it.

#include "model_fanout.hpp"

#include <datastream/ingest/stored_stream.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace datastream::model_test {

/// One stored stream: a map of frames.
class ModelStored {
public:
  explicit ModelStored(StreamId id, Retention retention)
      : id_(std::move(id)), retention_(retention) {}

  /// Stores what is new of this; bounds of retention apply when all of it was looked at.
  void store(const Frames& frames);
  void expect_from(Position from);
  void expect_until(std::uint64_t assigned) { assigned_ = assigned; }

  IngestLedger ledger() const;
  /// The equalities of a ledger, from what the model has counted.
  void must_balance() const;

  void must_page_so(System& system, Position from, std::uint32_t at_most) const;
  /// Compares every view, from this position on where it can begin anywhere.
  void must_look_so(const StoredStream& stream, const ModelCatalog& catalog, Position from,
                    std::uint32_t number) const;

private:
  /// A frame, missing positions, or, first of all, what was evicted.
  using Entry = std::variant<FramePtr, GapSpan, EvictedRange>;
  std::vector<Entry> log(Position from = {}) const;

  void must_show_all_gaps(const StoredStream& stream) const;
  void must_log_so(const StoredStream& stream, const ModelCatalog& catalog, Position from) const;
  void must_select_so(const StoredStream& stream, std::uint32_t number) const;
  void must_measure_so(const StoredStream& stream, ChannelId channel) const;
  void must_split_so(const StoredStream& stream, ChannelId channel, Position from) const;
  void must_report_so(const StoredStream& stream, const ModelCatalog& catalog) const;

  StreamId id_;
  Retention retention_;
  std::map<Position, FramePtr> frames_;
  std::uint64_t bytes_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t stored_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t conflicts_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t evicted_bytes_ = 0;
  std::uint64_t evicted_missing_ = 0; // between evicted ones
  std::optional<Position> evicted_last_;
  std::optional<Position> lowest_; // ever stored
  std::optional<Position> highest_;
  std::optional<Position> from_;
  std::optional<std::uint64_t> assigned_;
};

/// All streams of a collector, and its catalog.
class ModelStore {
public:
  explicit ModelStore(Retention retention) : retention_(retention) {}

  void begin(const SubscriptionStart& start);
  /// What is in a delivery; `frames` are those of it.
  void accept(const EventBatch& events, const Frames& frames, StoreAs form);

  /// A stream that `number` chooses.
  void forget(System& system, std::uint32_t number);

  std::vector<IngestLedger> ledgers() const;
  const ForgottenLedger& forgotten() const { return forgotten_; }
  /// After each action.
  void check(System& system) const;
  /// Asks for everything that can be asked, from a position that `number` chooses.
  void query(System& system, std::uint32_t number) const;

private:
  ModelStored& open(const StreamId& stream);
  void expect(const std::vector<StreamStart>& starts);

  Retention retention_;
  std::map<StreamId, ModelStored> streams_;
  std::map<StreamId, Position> starts_; // of streams of which nothing else has come
  ModelCatalog catalog_;
  ForgottenLedger forgotten_;
};

} // namespace datastream::model_test
