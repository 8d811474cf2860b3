#pragma once
/// A place in an archive, from where it is read on.

#include <datastream/archive/archive_error.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

/// What is wanted of an archive; what is not set is wanted whatever it is. Blocks that have nothing
/// of it are not read.
struct ReadFilter {
  std::optional<StreamId> stream{};
  /// Names, as far as they are declared when the cursor looks at what is durable, also behind the
  /// frames: a cursor with names begins by reading all declarations of the archive. Frames of
  /// channels that were never declared have no name. Empty: all channels.
  std::vector<std::string> channels{};
  Position lowest{0};
  Position highest{UINT64_MAX};
  /// When a batch arrived at the archive: not before, and before.
  std::optional<std::chrono::system_clock::time_point> arrived_from{};
  std::optional<std::chrono::system_clock::time_point> arrived_until{};
};

/// Frames that arrived together, sharing the memory of the block that was read; or declarations.
struct ArchivedBatch {
  /// What a segment says of its streams and channels, before the frames that need it, also when one
  /// begins to read within it: once for each segment, so again and again. In a batch without
  /// frames.
  std::vector<Declaration> declarations;
  /// Where sources said that streams begin for the archive, and with how many positions they ended.
  /// In a batch without frames; what `ArchivedStreamInfo` tells of the whole.
  std::vector<StreamStart> starts;
  std::vector<StreamEnd> ends;
  FrameBatch frames; ///< of one stream
  std::chrono::system_clock::time_point arrival;

  /// The sequence of a frame of `frames`.
  Sequence sequence(std::size_t index) const {
    return {first.value + (offsets.empty() ? index : offsets[index])};
  }

  Sequence first; ///< of the first frame; without frames, of the next one
  /// Where a filter left some out: each frame's sequence, from `first`. Otherwise empty.
  std::vector<std::uint32_t> offsets;
};

/// Reads on from a sequence, in order, and follows the writer: what was nothing becomes frames once
/// there are more. Every frame is given at least once, and, by one cursor, once.
///
/// Ownership: keeps what it needs of the reader alive. Thread safety: one owner.
class ArchiveCursor {
public:
  ArchiveCursor(ArchiveCursor&&) noexcept;
  ArchiveCursor& operator=(ArchiveCursor&&) noexcept;
  ~ArchiveCursor();

  /// The next batch; nothing: the cursor has read all that is durable, as far as the tip says. That
  /// it may be more, because the tip is damaged, is for `ArchiveReader::holes` to say.
  /// Errors: a damaged or missing part, with the sequences concerned; the cursor stays where it is.
  /// To go on behind them, read from `error.lost->last` + 1. Without sequences: declarations cannot
  /// be read, and no frame is lost; the next call goes on without them. A filter by names answers
  /// for blocks of which it cannot tell, because names of the archive cannot be read, that they are
  /// lost. Or an error of the system while looking for more, which the next call
  /// does again.
  std::expected<std::optional<ArchivedBatch>, ArchiveError> next();

  /// The same, and waits up to so long for more.
  std::expected<std::optional<ArchivedBatch>, ArchiveError> next(std::chrono::milliseconds timeout);

  /// Everything before this was given, or left out by the filter. Where to resume, also after a
  /// restart.
  Sequence position() const noexcept;

private:
  friend class ArchiveReader;
  class Impl;
  explicit ArchiveCursor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace datastream
