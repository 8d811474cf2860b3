#include "archive_small_blocks.hpp"

#include "archive_frames.hpp"

#include "forwarded_files.hpp"
#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/process.hpp"
#include "harness/require.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_reader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace bench {

namespace {

constexpr std::size_t payload_bytes = 120;
constexpr int point_reads = 1000;

/// Makes nothing durable, which is what a million groups would wait for.
class UnsyncedFiles : public datastream::test::ForwardedFiles {
public:
  datastream::FileResult<std::unique_ptr<datastream::File>> open(const std::filesystem::path& path,
                                                                 Mode mode) override {
    auto file = ForwardedFiles::open(path, mode);
    if (!file)
      return file;
    return std::make_unique<UnsyncedFile>(std::move(*file));
  }

private:
  class UnsyncedFile : public datastream::test::ForwardedFile {
  public:
    using ForwardedFile::ForwardedFile;
    datastream::FileResult<void> sync() override { return {}; }
  };
};

void fill(const std::filesystem::path& directory, const datastream::StreamId& id,
          const NoiseSet& payloads, std::size_t blocks, std::size_t frames_in_block) {
  UnsyncedFiles files;
  auto archive = datastream::Archive::open(directory, {.files = &files});
  require(archive.has_value(), "the archive opens");
  for (std::size_t block = 0; block < blocks; ++block) {
    (*archive)->append(payloads.batch(id, block * frames_in_block, frames_in_block));
    require((*archive)->flush().has_value(), "every batch is a group");
  }
  require((*archive)->close().has_value(), "the archive is closed");
}

datastream::ArchivedStream stream_of(datastream::ArchiveReader& reader,
                                     const datastream::StreamId& id) {
  auto stream = reader.stream(id);
  require(stream.has_value(), "the stream is found");
  return std::move(*stream);
}

double milliseconds(const Stopwatch& watch) {
  return watch.elapsed_ns() / 1e6;
}

} // namespace

void print_head_of_small_blocks() {
  fmt::print("{:>12}{:>8}{:>10}{:>10}{:>12}{:>12}{:>8}{:>12}{:>11}{:>11}{:>10}{:>10}{:>12}{:>8}\n",
             "blocks", "frames", "files, MB", "segments", "reader, ms", "stream, ms", "again",
             "its memory", "point, us", "90 %", "99 %", "MB", "walk, ns/f", "MB");
}

void measure_small_blocks(std::size_t blocks, std::size_t frames_in_block) {
  const NoiseSet payloads{payload_bytes};
  const datastream::StreamId id{"node", {1}};
  const DiskDirectory directory;
  fill(directory.path(), id, payloads, blocks, frames_in_block);
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    bytes += entry.is_regular_file() ? entry.file_size() : 0;

  const Stopwatch opening{Clock::wall};
  auto reader = datastream::ArchiveReader::open(directory.path());
  require(reader.has_value(), "a reader opens");
  const double read_open = milliseconds(opening);
  const Stopwatch first{Clock::wall};
  (void)stream_of(*reader, id);
  const double stream_first = milliseconds(first);
  const std::size_t before = heap_bytes();
  const Stopwatch again{Clock::wall};
  const datastream::ArchivedStream stream = stream_of(*reader, id);
  const double stream_again = milliseconds(again);
  const auto held = [&] { return heap_bytes() - std::min(heap_bytes(), before); };
  const std::size_t stream_bytes = held();
  require(stream.size() == blocks * frames_in_block, "every frame is there");

  std::uint64_t read = 0;
  std::size_t walk_bytes = 0;
  const Stopwatch walking{Clock::wall};
  for (const datastream::FrameView& frame : stream.frames()) {
    require(frame.position.value == read, "frames come in order");
    if (read++ % std::max<std::uint64_t>(stream.size() / 100, 1) == 0)
      walk_bytes = std::max(walk_bytes, held());
  }
  const double walk = walking.elapsed_ns() / static_cast<double>(read);

  std::mt19937_64 random(blocks);
  std::vector<double> reads;
  for (int i = 0; i < point_reads; ++i) {
    const std::uint64_t position = random() % stream.size();
    const Stopwatch watch{Clock::wall};
    const auto frame = stream.at({position});
    reads.push_back(watch.elapsed_ns() / 1e3);
    require(frame && *frame && (*frame)->payload == payloads[position], "the frame is found");
  }
  const std::size_t point_bytes = held();

  fmt::print("{:>12}{:>8}{:>10.1f}{:>10}{:>12.1f}{:>12.1f}{:>8.1f}{:>12}{:>11.0f}{:>11.0f}{:>10.0f}"
             "{:>10.1f}{:>12.0f}{:>8.1f}\n",
             blocks, frames_in_block, static_cast<double>(bytes) / 1e6, reader->segments().size(),
             read_open, stream_first, stream_again, stream_bytes, quantile(reads, 0.5),
             quantile(reads, 0.9), quantile(reads, 0.99), static_cast<double>(point_bytes) / 1e6,
             walk, static_cast<double>(walk_bytes) / 1e6);
  std::fflush(stdout);
}

} // namespace bench
