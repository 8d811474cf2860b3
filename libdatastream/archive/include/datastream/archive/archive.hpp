#pragma once
/// Streams and their catalogs, kept durably (specification 7.4).

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/archive_ledger.hpp>
#include <datastream/archive/file_system.hpp>
#include <datastream/defaults.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/subscription_request.hpp>
#include <datastream/pipe/catalog.hpp>
#include <datastream/pipe/event_batch.hpp>
#include <datastream/pipe/subscription.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rocksdb {
class Env;
}

namespace datastream {

/// When the index is made durable. It never holds anything that no segment has, and can be rebuilt
/// from them, so nothing is lost either way.
enum class MetadataSync {
  at_seal,      ///< with every sealed segment, and when the archive is closed
  every_commit, ///< with every group: one more flush of the disk for each
};

struct ArchiveOptions {
  /// A group is committed once it has this many bytes, uncompressed, at least 1,
  std::size_t group_bytes = defaults::archive_group_bytes;
  /// or once its first frame has waited so long, 0 to a day,
  std::chrono::milliseconds group_delay = defaults::archive_group_delay;
  /// or as soon as somebody asks: see `Archive::commit`.

  /// Who the frames come from, for those who read them: `ArchiveReader::source`, and the field
  /// `source` of JSON Lines. Of several the one that was written last counts; nothing is written
  /// before there is something else to commit. Empty: what was said before stays. At most 1 MiB.
  std::string source{};

  /// A segment is sealed before the frames of a group would make it larger than this. What the
  /// group says beside its frames, and the footer, come on top. A group that alone is larger has a
  /// segment of its own.
  std::uint64_t segment_bytes = defaults::archive_segment_bytes;
  /// Frames that are compared, byte by byte as it were, with a duplicate of theirs. Older ones are
  /// known to be stored, and a duplicate is not stored again; but nobody knows whether it differs.
  /// Counted in runs of 64 positions of a stream, of which one frame may be all that there is.
  std::size_t compared_frames = defaults::archive_compared_frames;
  MetadataSync metadata_sync = MetadataSync::at_seal;
  /// After a failed write, room is looked for again so often: 1 ms to a day.
  std::chrono::milliseconds retry_interval = defaults::archive_retry;

  /// What the archive tells while it works; called by a thread of its own, must not block and must
  /// not call the archive. What they throw is logged and changes nothing; it is not told again.
  struct Events {
    /// Everything that was not said to have failed is durable, up to and with this ticket.
    std::function<void(std::uint64_t ticket)> committed{};
    /// The same for what is not stored, and was counted so.
    std::function<void(std::uint64_t ticket)> failed{};
    /// Ingest stands still because of this.
    std::function<void(const ArchiveError&)> suspended{};
    /// Ingest goes on.
    std::function<void()> resumed{};
    /// For good: only opening the archive again helps.
    std::function<void(const ArchiveError&)> stopped{};
  } events{};

  FileSystem* files = nullptr;      ///< null: that of the operating system
  rocksdb::Env* metadata = nullptr; ///< where the index has its files; null: RocksDB's default
};

/// What opening an archive found.
struct ArchiveRecovery {
  bool created = false;             ///< there was none
  bool reindexed = false;           ///< there was no index
  std::uint64_t torn_bytes = 0;     ///< cut from the end of the last segment: never acknowledged
  std::uint64_t adopted_frames = 0; ///< complete in a segment, unknown to the index
  std::vector<ArchiveError> holes;  ///< what cannot be read any more, as far as that was noticed
};

/// An archive, open for writing: a directory of segment files and an index of them. One process
/// owns it at a time; any number may read it, with `ArchiveReader`, also while it is written.
///
///     auto archive = Archive::open("/var/lib/telemetry");
///     (*archive)->declare(snapshot);
///     (*archive)->append(batch);
///     if (auto durable = (*archive)->flush(); !durable)
///       std::cerr << durable.error() << '\n';
///
/// A position of a stream is stored once, whatever arrives, however late and after however many
/// restarts. What was committed survives `kill -9` and power cuts. Many batches of all streams are
/// committed together, and the next group fills while one is being synced.
///
/// When the disk is full, or a write fails, nothing is stored until there is room again; that is
/// looked for by itself, and what comes meanwhile is counted. When a sync of a segment or of the
/// archive's directory fails, nobody knows what the disk holds, and the archive stops for good. A
/// sync of the index, or of a tip that was just made, counts as a write: nothing is believed
/// because of it.
///
/// Thread safety: every function may be called from any thread. `append` may wait for the disk, and
/// so must not be called by who must not wait.
class Archive {
public:
  /// Opens or creates the archive in this directory, which is made if need be, with those that it
  /// lies in, and recovers what a crash left.
  /// Errors: `bad_input` for options that are out of bounds; `locked`; `metadata_ahead`,
  /// `unsupported`, `damaged` and `missing`, where going on would harm what is there; `io`, also
  /// where no thread can be started; `no_room`. After `metadata_ahead` a reader sees which frames
  /// are gone.
  static std::expected<std::unique_ptr<Archive>, ArchiveError>
  open(const std::filesystem::path& directory, ArchiveOptions options = {});

  /// Commits what is pending, and closes.
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  const std::filesystem::path& directory() const noexcept;
  const ArchiveRecovery& recovery() const noexcept;

  /// What became of a batch. Its sum is the batch's size.
  struct Appended {
    std::size_t taken = 0; ///< will be durable with `ticket`, if nothing fails
    std::size_t duplicates = 0;
    std::size_t conflicts = 0;
    std::size_t unverified = 0;
    std::size_t not_stored = 0;
    std::uint64_t ticket = 0;
  };
  /// Takes a batch into the group that is filling, and copies it. Waits while that group is full,
  /// which is until the one before it is synced. Never throws.
  Appended append(const FrameBatch& batch);
  /// The same, for a batch that arrived at another time than now.
  Appended append(const FrameBatch& batch, std::chrono::system_clock::time_point arrival);

  /// Takes a whole delivery of a subscription, as `Consumer::accept` does: what it declares, its
  /// frames, and where streams begin and end, so that a reader knows what is missing before the
  /// first frame and after the last. The ticket is that of all of it. Never throws.
  Appended append(const EventBatch& events);
  /// Takes what a subscription begins with: ticket and errors as those of `declare`.
  std::uint64_t begin(const SubscriptionStart& start);

  /// Takes a declaration; it is durable with the ticket that this returns or, while the archive is
  /// in trouble, once there is room again. One that comes when the archive has stopped or is closed
  /// is counted as refused. Known ones cost nothing. Throws `std::bad_alloc`, and
  /// then has not taken it; of several, those before it stay.
  std::uint64_t declare(const Declaration& declaration);
  std::uint64_t declare(const DatastreamSnapshot& snapshot);

  /// Commits the group that is filling as soon as the disk is free. Waits for nothing. For whoever
  /// knows that nothing more will come until what was taken is durable. Returns the ticket with
  /// which everything that was taken is.
  std::uint64_t commit();

  /// Commits, waits until everything that was taken before is durable, and tells the last sequence.
  /// Error: why that cannot be, `stopped` if it never will; a part may be durable.
  std::expected<Sequence, ArchiveError> flush();

  /// Commits what is pending and ends; what is appended afterwards is counted as not stored, what
  /// is declared as refused.
  /// Error: as `flush`. Closing twice is harmless.
  std::expected<Sequence, ArchiveError> close();

  ArchiveLedger ledger() const;
  /// The last sequence that is durable; 0: nothing yet.
  Sequence last_durable() const;
  /// Highest position of a stream that is durable since the archive was opened or in what its
  /// memory still holds; nothing if none is known.
  std::optional<Position> highest_durable(const StreamId& stream) const;
  /// Everything that was declared, in this life or an earlier one.
  const Catalog& catalog() const;

  /// Why nothing is stored at the moment, or, if it is `stopped` or was closed, any more; nothing
  /// while all is well.
  std::optional<ArchiveError> trouble() const;

private:
  class Impl;
  explicit Archive(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace datastream
