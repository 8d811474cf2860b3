#include "tip_file.hpp"

#include "errors.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace datastream {

std::expected<std::optional<format::Tip>, ArchiveError>
read_tip(FileSystem& files, const std::filesystem::path& directory,
         std::optional<ArchiveError>* fault) {
  const auto file = files.open(directory / tip_name, FileSystem::Mode::read);
  if (!file) {
    if (file.error().is(std::errc::no_such_file_or_directory))
      return std::nullopt;
    return archive_failed(file.error());
  }
  std::array<char, format::tip_file_bytes> bytes{};
  const auto count = (*file)->read(0, bytes);
  if (!count)
    return archive_failed(count.error());
  const std::string_view content(bytes.data(), *count);
  bool unsupported = false;
  const auto tip = format::decode_tip(content, &unsupported);
  if (tip) {
    if (fault) {
      const auto place = format::damaged_tip_place(content);
      *fault = place ? std::optional(damaged(directory / tip_name, *place,
                                             {"this place of the tip is damaged: more may be "
                                              "durable than the other one says; opening the "
                                              "archive for writing mends that"}))
                     : std::nullopt;
    }
    return *tip;
  }
  if (!unsupported)
    return std::nullopt;
  ArchiveError error = damaged(directory / tip_name, 0, tip.error());
  error.kind = ArchiveError::Kind::unsupported;
  return std::unexpected(std::move(error));
}

std::expected<TipFile, WriteFailure> TipFile::open(FileSystem& files,
                                                   const std::filesystem::path& directory,
                                                   const std::optional<format::Tip>& last) {
  const std::uint64_t count = last ? last->count : 0;
  auto file = files.open(directory / tip_name, FileSystem::Mode::update);
  if (file)
    return TipFile(std::move(*file), count);
  if (!file.error().is(std::errc::no_such_file_or_directory))
    return write_failed(file.error());
  file = files.open(directory / tip_name, FileSystem::Mode::create);
  if (!file)
    return write_failed(file.error());
  // All the room that it will ever take.
  const std::string zeros(format::tip_file_bytes, '\0');
  const std::string_view parts[] = {zeros};
  if (const auto written = (*file)->write(0, parts); !written)
    return write_failed(written.error());
  // Nobody relies on the tip being durable, so this may be tried again. Of its directory a sync
  // that fails may have been that of a segment's name.
  if (const auto synced = (*file)->sync(); !synced)
    return write_failed(synced.error());
  if (auto synced = sync_directory(files, directory); !synced)
    return std::unexpected(std::move(synced.error()));
  return TipFile(std::move(*file), count);
}

std::expected<void, ArchiveError> TipFile::write(format::Tip tip) {
  tip.count = count_ + 1;
  const std::string bytes = encode(tip);
  const std::string_view parts[] = {bytes};
  const auto written = file_->write((tip.count % 2) * format::tip_place_bytes, parts);
  if (!written)
    return archive_failed(written.error());
  count_ = tip.count;
  return {};
}

std::expected<void, ArchiveError> TipFile::sync() {
  if (const auto synced = file_->sync(); !synced)
    return archive_failed(synced.error());
  return {};
}

} // namespace datastream
