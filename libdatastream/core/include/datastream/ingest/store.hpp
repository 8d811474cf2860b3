#pragma once
/// All streams that a consumer has received (specification 7.3).

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/model/ledger.hpp>

#include <cstddef>
#include <map>
#include <ranges>
#include <utility>

namespace datastream {

/// Stored streams, ordered by their ids. It is the truth for frames only: names and contents of
/// channels are in a `Catalog` (specification 7.4).
///
/// Lives of one node are streams of their own and never merge (specification 2.2).
///
///     for (const StoredStream& stream : store)
///       std::cout << stream.id() << ": " << stream.size() << " frames\n";
///
/// Ownership: pointers and references to streams stay valid until the stream is forgotten or the
/// store ends, also when it is moved. Thread safety: one owner; const functions may run
/// concurrently with each other.
class Store {
  using Streams = std::map<StreamId, StoredStream>;

public:
  explicit Store(Retention per_stream = {}) : retention_(per_stream) {}
  Store(Store&& other) noexcept
      : retention_(other.retention_), streams_(std::move(other.streams_)),
        starts_(std::move(other.starts_)), forgotten_(std::exchange(other.forgotten_, {})),
        recent_(std::exchange(other.recent_, nullptr)) {
    other.streams_.clear();
    other.starts_.clear();
  }
  Store& operator=(Store&& other) noexcept;

  /// The stream, if anything opened it.
  StoredStream* find(const StreamId& stream) noexcept;
  const StoredStream* find(const StreamId& stream) const noexcept;
  /// The stream, created empty if need be. Asking for the same one again costs no look-up.
  StoredStream& open(const StreamId& stream);
  /// The stream was offered from this position on: `StoredStream::expect_from`, but a stream of
  /// which nothing else is known is not opened for it. It is remembered, for some 100 bytes, until
  /// the stream is opened or forgotten.
  void expect_from(const StreamId& stream, Position first);
  /// Removes a stream with all that is stored of it: how a program that collects ever new lives
  /// bounds what it keeps of them. Its counts are added to `forgotten`. Should a frame of it come
  /// later, the stream is opened as one that was never known: what was stored once is then stored
  /// again. Returns whether anything was known of it.
  bool forget(const StreamId& stream);
  /// The counts of all streams that were forgotten.
  const ForgottenLedger& forgotten() const noexcept { return forgotten_; }

  /// Number of streams.
  std::size_t size() const noexcept { return streams_.size(); }
  bool empty() const noexcept { return streams_.empty(); }

  /// Their ids, ascending by node and life.
  auto stream_ids() const noexcept { return std::views::keys(streams_); }
  /// The streams, in the order of their ids.
  auto begin() const noexcept { return std::views::values(streams_).begin(); }
  auto end() const noexcept { return std::views::values(streams_).end(); }
  auto begin() noexcept { return std::views::values(streams_).begin(); }
  auto end() noexcept { return std::views::values(streams_).end(); }

private:
  Retention retention_;
  Streams streams_;
  std::map<StreamId, Position> starts_; ///< of streams that are not open
  ForgottenLedger forgotten_;
  StoredStream* recent_ = nullptr; ///< opened last: frames come in batches of one stream
};

} // namespace datastream
