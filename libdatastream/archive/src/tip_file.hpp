#pragma once
/// The file `tip` of an archive, as its writer has it.

#include "format/tip.hpp"
#include "write_failure.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/file_system.hpp>

#include <expected>
#include <filesystem>
#include <memory>
#include <optional>

namespace datastream {

inline constexpr const char* tip_name = "tip";

/// The tip in this directory; nothing if there is no file, or none of its places is whole. Tells
/// what is wrong with the other one, if anything is: then more may be durable than the tip says.
/// Errors: `unsupported`, `io`.
std::expected<std::optional<format::Tip>, ArchiveError>
read_tip(FileSystem& files, const std::filesystem::path& directory,
         std::optional<ArchiveError>* fault = nullptr);

/// Thread safety: one owner.
class TipFile {
public:
  /// Opens or creates the file. What will be written follows `last`.
  static std::expected<TipFile, WriteFailure> open(FileSystem& files,
                                                   const std::filesystem::path& directory,
                                                   const std::optional<format::Tip>& last);

  /// Publishes how far the archive is durable, which it must be. Is not synced: a power cut may
  /// take it back, which hides what is durable until the archive is opened again, and no more.
  std::expected<void, ArchiveError> write(format::Tip tip);
  /// What was written last survives a power cut: for when nothing else tells it any more.
  std::expected<void, ArchiveError> sync();

private:
  TipFile(std::unique_ptr<File> file, std::uint64_t count)
      : file_(std::move(file)), count_(count) {}

  std::unique_ptr<File> file_;
  std::uint64_t count_;
};

} // namespace datastream
