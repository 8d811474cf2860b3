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

/// One stream, as far as its index tells.
struct ArchivedStreamInfo {
  StreamId stream;
  std::uint64_t frames = 0;
  Position lowest;
  Position highest;
  std::chrono::system_clock::time_point first_arrival;
  std::chrono::system_clock::time_point last_arrival;
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
/// Memory: an index entry for each block of the segments that were asked for, and the blocks that
/// are being read; never the archive.
///
/// A failure never looks like an absence: where a segment is missing or damaged, everything that
/// would need it is an error that names the frames concerned, and everything else works.
///
/// Thread safety: one owner. Cursors and streams of it may be used by other threads than it, each
/// by one.
class ArchiveReader {
public:
  /// Errors: `not_an_archive`, `unsupported`, `damaged` when nothing says what is durable, `io`.
  static std::expected<ArchiveReader, ArchiveError> open(const std::filesystem::path& directory,
                                                         FileSystem* files = nullptr);

  ArchiveReader(ArchiveReader&&) noexcept;
  ArchiveReader& operator=(ArchiveReader&&) noexcept;
  ~ArchiveReader();

  /// Looks at what is durable now. Returns whether there is more than before.
  std::expected<bool, ArchiveError> refresh();

  /// The last sequence that is readable; 0: nothing yet.
  Sequence last() const noexcept;

  /// A cursor at the first frame whose sequence is at least `from`. It follows the writer on its
  /// own. `{0}` is everything.
  /// Errors: `bad_cursor` beyond the sequence after the last one.
  std::expected<ArchiveCursor, ArchiveError> read_from(Sequence from, ReadFilter filter = {});

  /// One stream, by position, as it is now.
  /// Errors: `unknown_stream`; `missing` and `damaged` when the index of a segment that may have
  /// some of it cannot be read.
  std::expected<ArchivedStream, ArchiveError> stream(const StreamId& stream);

  /// All streams that have frames, in the order of their ids.
  std::expected<std::vector<ArchivedStreamInfo>, ArchiveError> streams();
  /// Everything that was declared.
  std::expected<std::shared_ptr<const Catalog>, ArchiveError> catalog();
  /// The segments, in the order of their sequences; an error for those that cannot be read.
  std::vector<std::expected<SegmentInfo, ArchiveError>> segments();

  /// Reads every byte and reports each fault that there is. Empty: all is well.
  std::vector<ArchiveError> verify();

private:
  explicit ArchiveReader(std::shared_ptr<class SegmentSet> segments);
  std::shared_ptr<class SegmentSet> segments_;
};

} // namespace datastream
