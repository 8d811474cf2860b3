#pragma once
/// Archives as lines of JSON: ours written so, those of peers read (one object a line).

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_cursor.hpp>
#include <datastream/archive/archive_error.hpp>

#include <cstdint>
#include <expected>
#include <functional>
#include <iosfwd>
#include <string>

namespace datastream {

/// Writes frames as the orchestrator's archive has them, keys in alphabetical order:
///
///     {"arrival_seq":1,"arrival_unix_ms":1764460800000,"channel":"runtime.log","channel_id":1,
///      "payload":{"encoding":"utf8","value":"hello"},"position":0,"source":"archive",
///      "stream":"node-a#7"}
///
/// on one line. `arrival_seq` is the archive's sequence. A payload that is not UTF-8 is
/// `{"encoding":"bytes","value":[255,0]}`. A channel that was never declared is `channel#3`.
class JsonLinesWriter {
public:
  /// `source`: what is written as such.
  JsonLinesWriter(std::ostream& out, std::string source);
  /// Writes a batch; its declarations are remembered for the names. Errors are the stream's.
  void write(const ArchivedBatch& batch);

private:
  std::ostream& out_;
  std::string source_;
  Catalog catalog_;
};

/// A line that is no frame, and was skipped.
struct BadLine {
  std::uint64_t number = 0; ///< from 1
  std::string reason;
};

struct ImportReport {
  std::uint64_t lines = 0;
  std::uint64_t bad_lines = 0;
  std::uint64_t frames = 0;   ///< offered to the archive
  Archive::Appended appended; ///< summed over all
};

/// Reads the orchestrator's form, and the node's, whose payload is a string and which has no times.
/// Channels become known by their names, as bytes: that form has no contents. `channel#3` is a name
/// only if a stream has a channel of that name with another number. Keys may come in any order,
/// unknown ones are ignored.
///
/// `bad_line` is told of every line that cannot be read as a frame; it is counted and skipped.
/// Errors: `bad_input` when `in` cannot be read to its end, in which case the archive is unchanged:
/// all lines are read and checked before the first is stored, so `in` must be able to seek.
std::expected<ImportReport, ArchiveError>
import_json_lines(std::istream& in, Archive& archive,
                  const std::function<void(const BadLine&)>& bad_line = {});

} // namespace datastream
