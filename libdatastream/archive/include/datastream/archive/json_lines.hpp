#pragma once
/// Archives as lines of JSON, one frame a line: ours written so, those of peers read.
///
/// Peers have two forms. That of the orchestrator is the one that is written here, keys in
/// alphabetical order, on one line:
///
///     {"arrival_seq":1,"arrival_unix_ms":1764460800000,"channel":"runtime.log","channel_id":1,
///      "payload":{"encoding":"utf8","value":"hello"},"position":0,"source":"archive",
///      "stream":"node-a#7"}
///
/// A payload that is not UTF-8 is `{"encoding":"bytes","value":[255,0]}`, and a channel that was
/// never declared is `channel#3`. That of the node has no times and no source, and its payload is a
/// string.
///
/// A node or channel whose name is not UTF-8, which peers do not have, is written with U+FFFD for
/// what is not, and its bytes besides, as `stream_bytes` or `channel_bytes`; from them it is read.
/// What this form cannot say is what a channel was declared to contain, labels, and times of day
/// below a millisecond.

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_cursor.hpp>
#include <datastream/archive/archive_error.hpp>
#include <datastream/pipe/catalog.hpp>

#include <cstdint>
#include <expected>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

namespace datastream {

/// Writes batches of an archive as lines.
///
///     JsonLinesWriter writer(std::cout, "archive", *reader.catalog());
///     while (auto batch = cursor.next()) {
///       if (!*batch)
///         break;
///       writer.write(**batch);
///     }
///
/// Thread safety: one owner.
class JsonLinesWriter {
public:
  /// `source`: what is written as such; see `ArchiveReader::source`. `names`: what is known of
  /// channels, as frames may lie before the declarations that name them; none: what `write` was
  /// given counts alone. The stream must outlive the writer.
  JsonLinesWriter(std::ostream& out, std::string source,
                  std::shared_ptr<const Catalog> names = nullptr);

  /// Writes the frames of a batch, and learns more names from its declarations. `arrival_seq` is a
  /// frame's sequence. Errors are those of the stream; throws `std::bad_alloc`.
  void write(const ArchivedBatch& batch);

private:
  std::ostream& out_;
  std::string source_; ///< as JSON
  std::shared_ptr<const Catalog> names_;
  Catalog learnt_;
  std::string line_;
};

/// A line that is no frame, and was skipped.
struct BadLine {
  std::uint64_t number = 0; ///< from 1
  std::string reason;
};

struct ImportReport {
  std::uint64_t lines = 0;
  std::uint64_t bad_lines = 0;
  std::uint64_t frames = 0;   ///< offered to the archive: lines that are not bad
  Archive::Appended appended; ///< summed over all
};

/// Stores the frames of either form, in their order, with the times of their arrival where they are
/// told; returns when they are durable. What is stored already is counted as duplicates, so an
/// import that was interrupted may be repeated.
///
/// Channels become known by their names, as bytes; those that are known stay as they are declared.
/// `channel#3` is no name, unless the channel has another number than that. Keys may come in any
/// order, and unknown ones are ignored.
///
/// `bad_line` is told of every line that cannot be read as a frame, or gives a channel a second
/// name; it is counted and skipped. A line is bad, too, if it is longer than 256 MiB, which nothing
/// is that an archive could hold.
///
/// Errors: `bad_input` when `in` cannot be read to its end, in which case the archive is unchanged:
/// all lines are read and checked before the first is stored, so `in` must be able to seek; and
/// those of `Archive::flush`, in which case a part may be stored. Throws `std::bad_alloc`.
std::expected<ImportReport, ArchiveError>
import_json_lines(std::istream& in, Archive& archive,
                  const std::function<void(const BadLine&)>& bad_line = {});

} // namespace datastream
