#pragma once
/// Names for numbers: which streams and channels are known (specification 2.4, 3.3, 5.8).

#include <datastream/model/descriptor.hpp>
#include <datastream/model/subscription_request.hpp>

#include <atomic>
#include <cstddef>
#include <expected>
#include <map>
#include <memory_resource>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace datastream {

/// Why a registration or a declaration was refused.
struct CatalogError {
  enum class Kind {
    conflicting_name,        ///< the name is registered with other content
    conflicting_declaration, ///< the channel id was declared with another meaning
    unknown_stream,          ///< the stream was never declared
    stream_ended,            ///< the stream takes no more channels
    ids_exhausted,           ///< all 2^32 - 1 channel ids of the stream are taken
  };
  Kind kind;
  std::string message; ///< names the channel or stream
  friend bool operator==(const CatalogError&, const CatalogError&) = default;
};

/// The streams and channels that one endpoint, collector or store knows, as a log of declarations
/// that only grows. The length of that log is the catalog's version: whoever was told version `v`
/// lacks exactly the entries from `v` on.
///
/// Thread safety: every function may be called from any thread. A lock is held for the look-up
/// only; descriptors handed out stay valid for ever.
///
/// Errors, of all functions: `std::bad_alloc`, after which the catalog is what it was, unless
/// stated otherwise.
class Catalog {
public:
  /// Declares a stream. Declaring it again changes nothing; its first descriptor stays.
  /// Returns whether it was new.
  bool declare_stream(StreamDescriptor descriptor);

  /// Allocates the next id of a stream that this process owns, counting from 1, or returns the id
  /// that the name has already (specification 3.3).
  /// Errors: `conflicting_name`, `unknown_stream`, `stream_ended`, `ids_exhausted`; a refused
  /// registration changes nothing and burns no id.
  std::expected<ChannelId, CatalogError> register_channel(const StreamId& stream, std::string name,
                                                          ChannelContent content);

  /// Adds a channel that its owner has declared, with the owner's id. Declares its stream, with an
  /// unknown label, if need be. Returns whether it was new; equal declarations collapse.
  /// Errors: `conflicting_declaration`; the first declaration stays.
  std::expected<bool, CatalogError> declare_channel(ChannelDescriptor descriptor);

  /// Takes over one entry of another catalog's log: `declare_stream` or `declare_channel`.
  std::expected<bool, CatalogError> declare(const Declaration& declaration);

  /// Takes over everything that a snapshot tells. Returns how many of its channels conflicted.
  /// Whatever came before a `std::bad_alloc` stays; to call it again completes the rest.
  std::size_t declare_all(const DatastreamSnapshot& snapshot);

  /// Refuses further registrations for this stream.
  void close_stream(const StreamId& stream);

  /// Number of declarations so far.
  std::size_t version() const noexcept { return version_.load(std::memory_order_acquire); }

  /// Declarations `from` to `to - 1`, in the order in which they were made.
  std::vector<Declaration> declarations(std::size_t from, std::size_t to) const;

  /// A catalog as a request sees it, and the version that it shows.
  struct Versioned {
    DatastreamSnapshot snapshot;
    std::size_t version = 0;
  };
  /// Streams whose source matches and, unless all channels are asked for, that own at least one
  /// matching channel; channels that match in both.
  Versioned snapshot(const SubscriptionRequest& request = SubscriptionRequest::all()) const;

  StreamDescriptorPtr find_stream(const StreamId& stream) const;
  ChannelDescriptorPtr find_channel(const StreamId& stream, ChannelId channel) const;
  ChannelDescriptorPtr find_channel(const StreamId& stream, std::string_view name) const;

  /// A channel and the log index of its declaration; null when it is not known.
  struct Entry {
    ChannelDescriptorPtr channel;
    std::size_t index = 0;
  };
  Entry find_entry(const StreamId& stream, ChannelId channel) const;

private:
  struct Stream {
    explicit Stream(std::pmr::memory_resource* nodes) : by_id(nodes), by_name(nodes) {}

    ChannelDescriptorPtr add(ChannelDescriptor descriptor, std::size_t index);

    StreamDescriptorPtr descriptor;
    std::pmr::unordered_map<ChannelId, Entry> by_id;
    std::pmr::unordered_map<std::string_view, ChannelId> by_name; // keys live in the descriptors
    std::uint64_t next_id = 1; // above every id declared; 2^32 when none is left
    bool closed = false;
  };
  using Streams = std::map<StreamId, Stream>;

  Streams new_stream(StreamDescriptor descriptor);
  void reserve_log(std::size_t declarations);
  void log(Declaration declaration) noexcept;

  mutable std::mutex mutex_;
  // The nodes of all look-up tables side by side: between the descriptors, those of 100,000
  // channels would be spread over so much memory that every step of a look-up misses the caches.
  // They stay as long as the catalog does, so nothing need be given back one by one. Not a pool:
  // libstdc++'s returns null, or crashes, when it finds no memory to note a chunk that it has got.
  std::pmr::monotonic_buffer_resource nodes_;
  Streams streams_;
  std::vector<Declaration> log_;
  std::atomic<std::size_t> version_{0};
};

} // namespace datastream
