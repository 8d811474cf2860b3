#pragma once
/// The subcommands, one in each file. Results go to the output, messages to standard error; what is
/// wrong is kept in `faults`, also when nobody reads the results to their end. A command that can
/// do nothing throws `Failure`.

#include "arguments.hpp"
#include "faults.hpp"
#include "output.hpp"

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
void info(const std::filesystem::path& directory, bool json, Output& out, Faults& faults);

/// Every fault that reading all of it finds.
void verify(const std::filesystem::path& directory, Output& out, Faults& faults);

/// See `datastream::reindex`.
void make_index(const std::filesystem::path& directory, Output& out, Faults& faults);

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
void cat(const CatOptions& options, Output& out, Faults& faults);

/// See `datastream::import_json_lines`. `source`: what the archive says of itself from here on,
/// unless nothing is stored, which is a fault; empty: what it has said before.
void import(const std::filesystem::path& directory, const std::filesystem::path& file,
            const std::string& source, Output& out, Faults& faults);

} // namespace datastream::tool
