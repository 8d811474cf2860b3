#pragma once
/// All streams that a consumer has received (specification 7.3).

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/ids.hpp>

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
/// Ownership: pointers and references to streams stay valid for the life of the store, also when it
/// is moved. Thread safety: one owner; const functions may run concurrently with each other.
class Store {
  using Streams = std::map<StreamId, StoredStream>;

public:
  explicit Store(Retention per_stream = {}) : retention_(per_stream) {}
  Store(Store&& other) noexcept
      : retention_(other.retention_), streams_(std::move(other.streams_)),
        recent_(std::exchange(other.recent_, nullptr)) {
    other.streams_.clear();
  }
  Store& operator=(Store&& other) noexcept;

  /// The stream, if anything opened it.
  StoredStream* find(const StreamId& stream) noexcept;
  const StoredStream* find(const StreamId& stream) const noexcept;
  /// The stream, created empty if need be. Asking for the same one again costs no look-up.
  StoredStream& open(const StreamId& stream);

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
  StoredStream* recent_ = nullptr; ///< opened last: frames come in batches of one stream
};

} // namespace datastream
