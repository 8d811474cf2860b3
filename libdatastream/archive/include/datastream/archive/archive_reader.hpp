#pragma once
/// Reads an archive, also while another process writes it.

#include <datastream/archive/archive_cursor.hpp>
#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/archived_stream.hpp>
#include <datastream/archive/file_system.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/pipe/catalog.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

/// One segment file, as far as it is readable now.
struct SegmentInfo {
  std::string name;
  bool sealed = false;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t frames = 0;
  Sequence first; ///< of its first frame; of the next one while it has none
};

/// One stream: what is stored of it, and how far it reached.
struct ArchivedStreamInfo {
  StreamId stream{};
  /// Stored, with those that are in damaged blocks, and so once more if they were stored again
  /// after their loss was accepted. With none of them, nothing is known of the next four.
  std::uint64_t frames = 0;
  Position lowest{};
  Position highest{};
  std::chrono::system_clock::time_point first_arrival{};
  std::chrono::system_clock::time_point last_arrival{};
  /// The lowest position from which a source offered it; nothing if none said so.
  std::optional<Position> from{};
  /// How many positions it had when it ended. Nothing if the archive was not told: it goes on, or
  /// its program or the way from there broke off.
  std::optional<std::uint64_t> assigned{};

  /// Positions that are not stored: from where it was offered to its end, or else to the highest
  /// one that is stored. Less than that where `frames` counts what is damaged.
  std::uint64_t missing() const noexcept;
};

/// What to do where frames are lost: because a segment is missing or damaged, or because that was
/// accepted when the archive was reindexed.
enum class Holes {
  refuse,    ///< answer with the error
  leave_out, ///< answer with what is left; the caller knows, and `ArchiveReader::holes` names it
};

/// An archive as it was durable when this was opened or refreshed last. Takes no lock and disturbs
/// no writer. Nothing is shown that a power cut could still take back.
///
///     auto reader = ArchiveReader::open("/var/lib/telemetry");
///     auto cursor = reader->read_from({0});
///     while (auto batch = cursor->next()) {
///       if (!*batch)
///         break; // nothing more for now
///       consumer.accept((*batch)->frames);
///     }
///
/// Memory: the indexes of the segments that were used last, up to
/// `defaults::archive_reader_index_bytes` and at least those in use, with an entry for each block;
/// for a stream that was asked for, what `ArchivedStream` says; and the blocks that are being read.
/// Never the archive.
///
/// A failure never looks like an absence: where a segment is missing or damaged, everything that
/// would need it is an error that names the frames concerned, and everything else works.
///
/// Ownership: what it hands out keeps what it needs; `files` must outlive all. Thread safety: one
/// owner. Cursors and streams of it may be used by other threads than it, each cursor by one.
/// Errors, of all functions, also where there is nothing to return one: `std::bad_alloc`.
class ArchiveReader {
public:
  /// Errors: `not_an_archive`, `unsupported`, `damaged` when nothing says what is durable, `io`.
  static std::expected<ArchiveReader, ArchiveError> open(const std::filesystem::path& directory,
                                                         FileSystem* files = nullptr);

  ArchiveReader(ArchiveReader&&) noexcept;
  ArchiveReader& operator=(ArchiveReader&&) noexcept;
  ~ArchiveReader();

  /// Looks at what is durable now, and again at what was missing or could not be read. Returns
  /// whether there are more frames than before.
  /// Errors: as `open`; what is known stays as it is.
  std::expected<bool, ArchiveError> refresh();

  /// The last sequence that is readable; 0: nothing yet.
  Sequence last() const noexcept;

  /// A cursor at the first frame whose sequence is at least `from`. It follows the writer on its
  /// own. `{0}` is everything.
  /// Errors: `bad_cursor` beyond the sequence after the last one; as `refresh`.
  std::expected<ArchiveCursor, ArchiveError> read_from(Sequence from, ReadFilter filter = {});

  /// One stream, by position, as it is now.
  /// Errors: `unknown_stream`; the first of `holes`, each of which may have had some of it.
  std::expected<ArchivedStream, ArchiveError> stream(const StreamId& stream,
                                                     Holes holes = Holes::refuse);

  /// All streams, also those of which nothing is known but where they began or ended, in the order
  /// of their ids.
  /// Errors: the first of `holes`, or a damaged block of descriptors.
  std::expected<std::vector<ArchivedStreamInfo>, ArchiveError> streams(Holes holes = Holes::refuse);

  /// Everything that was declared.
  /// Errors: the first of `holes`, or a damaged block of descriptors.
  std::expected<std::shared_ptr<const Catalog>, ArchiveError> catalog(Holes holes = Holes::refuse);

  /// Who the archive's frames come from, as `ArchiveOptions::source` has it: what was said last.
  /// Empty: nobody said so.
  /// Errors: as `catalog`.
  std::expected<std::string, ArchiveError> source(Holes holes = Holes::refuse);

  /// The segments, and where there should be some, or a part of one, and is none, the error; in the
  /// order of their sequences. At last the error of a damaged tip.
  std::vector<std::expected<SegmentInfo, ArchiveError>> segments();

  /// Sequences that no index has, with the reason for each. What only turns out when a block is
  /// read is not among them: see `verify`. At last, without sequences, that the tip is damaged, if
  /// it is: then there may be frames behind the last one that are durable and not shown.
  std::vector<ArchiveError> holes();

  /// Reads every byte and reports each fault that there is, with the sequences that it costs, if it
  /// costs any. Empty: all is well.
  std::vector<ArchiveError> verify();

private:
  class Impl;
  explicit ArchiveReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace datastream
