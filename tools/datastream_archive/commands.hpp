#pragma once
/// The subcommands, one in each file. Results go to the output, messages to standard error; a
/// command that can do nothing throws `Failure`.

#include "arguments.hpp"
#include "output.hpp"
#include "status.hpp"

#include <datastream/archive/archive_cursor.hpp>
#include <datastream/archive/archive_error.hpp>
#include <datastream/model/ids.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace datastream::tool {

/// What is in an archive. `json`: as one object.
Status info(const std::filesystem::path& directory, bool json, Output& out);

/// Every fault that reading all of it finds.
Status verify(const std::filesystem::path& directory, Output& out);

/// See `datastream::reindex`.
Status make_index(const std::filesystem::path& directory, Output& out);

struct CatOptions {
  std::filesystem::path directory;
  std::vector<StreamId> streams;     ///< none: all
  std::vector<std::string> channels; ///< none: all
  PositionRange positions;
  std::optional<std::string> grep;
  bool raw = false; ///< payloads only, as they are

  /// In the order of sequences; otherwise stream by stream, by position.
  bool by_sequence = false;
  Sequence from{0};
  Sequence to{UINT64_MAX};
  std::optional<Time> since;
  std::optional<Time> until;
  bool follow = false;
  bool json = false;
  std::optional<std::string> source; ///< what JSON says; nothing: what the archive does

  // Stream by stream.
  std::optional<std::size_t> tail;
  std::optional<std::string> lines;
  std::optional<std::string> series;
};
Status cat(const CatOptions& options, Output& out);

/// See `datastream::import_json_lines`. `source`: what the archive says of itself from here on;
/// empty: what it has said before.
Status import(const std::filesystem::path& directory, const std::filesystem::path& file,
              const std::string& source, Output& out);

} // namespace datastream::tool
