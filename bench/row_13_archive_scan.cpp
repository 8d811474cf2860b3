/// Row 13: an archive read from its beginning to its end, its files not in memory, against `read`
/// of the same bytes, elapsed time.

#include "archive_frames.hpp"

#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/require.hpp"
#include "harness/table.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_reader.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace bench;

const datastream::StreamId stream{"bench", {1}};

/// The segments of an archive.
std::vector<std::filesystem::path> segments_in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".dss")
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Their bytes must come from the disk again.
void forget(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& path : files) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    require(file >= 0, "a segment opens");
    ::fdatasync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

void fill(const std::filesystem::path& directory, const NoiseSet& payloads, std::size_t frames) {
  auto archive = datastream::Archive::open(directory);
  require(archive.has_value(), "the archive opens");
  for (std::size_t first = 0; first < frames; first += 1000)
    (*archive)->append(payloads.batch(stream, first, std::min<std::size_t>(1000, frames - first)));
  require((*archive)->close().has_value(), "every frame is durable");
}

double scan_ours(const std::filesystem::path& directory, const Tally& expected) {
  const Stopwatch watch{Clock::wall};
  Tally tally;
  auto reader = datastream::ArchiveReader::open(directory);
  require(reader.has_value(), "the archive opens");
  auto cursor = reader->read_from({0});
  require(cursor.has_value(), "a cursor begins");
  while (true) {
    const auto batch = cursor->next();
    require(batch.has_value(), "nothing is damaged");
    if (!*batch)
      break;
    for (const datastream::FrameView& frame : (*batch)->frames)
      tally(frame.channel.value, frame.position.value, frame.payload);
  }
  const double elapsed = watch.elapsed_ns();
  require(tally == expected, "every frame is read");
  return elapsed / static_cast<double>(expected.frames);
}

double read_raw(const std::vector<std::filesystem::path>& files, std::uint64_t frames) {
  const Stopwatch watch{Clock::wall};
  std::vector<char> buffer(256U << 10U);
  for (const std::filesystem::path& path : files) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    require(file >= 0, "a segment opens");
    while (::read(file, buffer.data(), buffer.size()) > 0) {
    }
    ::close(file);
  }
  return watch.elapsed_ns() / static_cast<double>(frames);
}

void measure(Table& table, std::size_t size) {
  const NoiseSet payloads{size};
  const std::size_t frames = table.frames(1'000'000);
  const DiskDirectory directory;
  fill(directory.path(), payloads, frames);
  const auto files = segments_in(directory.path());
  Tally expected;
  for (std::uint64_t position = 0; position < frames; ++position)
    expected(1, position, payloads[position]);
  const auto cold = [&](auto scan) {
    return [&files, scan] {
      forget(files);
      return scan();
    };
  };
  const std::array references{Side{"read", cold([&] { return read_raw(files, frames); })}};
  const auto results =
      compare({"ours", cold([&] { return scan_ours(directory.path(), expected); })}, references,
              table.rounds());
  table.line(fmt::format("archive scanned, cold, {} B", size), results.front(), 1.0 / 3);
}

void archive_scan(Table& table) {
  measure(table, 120);
  if (table.all_sizes())
    measure(table, 1024);
}

const Row row{13, archive_scan};

} // namespace
