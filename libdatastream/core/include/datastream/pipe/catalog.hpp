#pragma once
/// Names for numbers: which streams and channels are known (specification 2.4, 3.3, 5.8).

#include <datastream/model/descriptor.hpp>
#include <datastream/model/subscription_request.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <expected>
#include <map>
#include <memory>
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
/// that only grows, but for streams that are forgotten. The length of that log, with what was
/// forgotten, is the catalog's version: whoever was told version `v` lacks exactly the entries from
/// `v` on.
///
/// Thread safety: every function may be called from any thread. A lock is held for one look-up,
/// declaration or forgotten stream; a snapshot takes it for a few entries of the log at a time, and
/// does the rest without it. Whoever keeps a descriptor that was handed out keeps it alive.
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

  /// Forgets a stream and its channels, and gives their memory back. Whoever was told of them is
  /// not told otherwise; whoever was not, is told no more. What is declared of it later is new, and
  /// may mean something else: so forget what is over, and never a stream that this process owns,
  /// whose channel ids would be given out again. Returns whether it was known.
  bool forget(const StreamId& stream);

  /// Number of declarations so far, those of forgotten streams included.
  std::size_t version() const noexcept { return version_.load(std::memory_order_acquire); }

  /// Declarations `from` to `to - 1`, in the order in which they were made, without those of
  /// streams that were forgotten since.
  std::vector<Declaration> declarations(std::size_t from, std::size_t to) const;

  /// A catalog as a request sees it, and the version that it shows.
  struct Versioned {
    DatastreamSnapshot snapshot;
    std::size_t version = 0;
  };
  /// Streams whose source matches and, unless all channels are asked for, that own at least one
  /// matching channel; channels that match in both. Of a stream that is forgotten meanwhile it may
  /// show a part.
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
    ChannelDescriptorPtr add(ChannelDescriptor added, std::size_t number);

    // The nodes of both look-up tables side by side: between the descriptors, those of 100,000
    // channels would be spread over so much memory that every step of a look-up misses the caches.
    // They stay as long as the stream does, so nothing need be given back one by one. Not a pool:
    // libstdc++'s returns null, or crashes, when it finds no memory to note a chunk that it has
    // got.
    std::pmr::monotonic_buffer_resource nodes{384};
    StreamDescriptorPtr descriptor;
    std::size_t index = 0; // of its declaration
    std::pmr::unordered_map<ChannelId, Entry> by_id{&nodes};
    std::pmr::unordered_map<std::string_view, ChannelId> by_name{
        &nodes};               // of the descriptors' names
    std::uint64_t next_id = 1; // above every id declared; 2^32 when none is left
    bool closed = false;
  };
  using Streams = std::map<StreamId, Stream>;

  /// Entries of the log that lie together. Those of forgotten streams are null, and a part that has
  /// no others is given back.
  struct LogPart {
    static constexpr std::size_t entries = 64;
    std::array<Declaration, entries> declarations;
    std::size_t known = 0;
  };

  static Streams new_stream(StreamDescriptor descriptor, std::size_t index);
  void reserve_log(std::size_t declarations);
  void log(Declaration declaration) noexcept;
  void forget_log(std::size_t index) noexcept;
  std::size_t copy_log_part(std::size_t from, std::size_t to,
                            std::vector<Declaration>& declarations) const;

  mutable std::mutex mutex_;
  Streams streams_;
  std::map<std::size_t, LogPart> log_; // by the number of the part
  std::atomic<std::size_t> version_{0};
};

} // namespace datastream
