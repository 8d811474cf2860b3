/// datastream_bench_archive: what an archive costs as it grows. One line for each size: files,
/// opening to write and to read, memory, frames read one by one at random, and everything read.
/// Warm. Then the same for blocks, where they are small.
///
///     datastream_bench_archive [FRAMES...]          100,000, 1,000,000 and 10,000,000 by default
///     datastream_bench_archive --blocks [BLOCKS...] of one frame; by default 100,000, the same of
///                                                   16 frames, and 1,000,000

#include "archive_frames.hpp"
#include "archive_small_blocks.hpp"

#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/process.hpp"
#include "harness/require.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_reader.hpp>
#include <datastream/archive/reindex.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>
#include <ranges>
#include <string_view>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t payload_bytes = 120;
constexpr int point_reads = 1000;

/// Ten streams, in turn.
datastream::StreamId stream_of(std::size_t number) {
  return {"node-" + std::to_string(number % 10), {1}};
}

void fill(const std::filesystem::path& directory, const NoiseSet& payloads, std::size_t frames) {
  constexpr std::size_t batch_frames = 1000;
  auto archive = datastream::Archive::open(directory);
  require(archive.has_value(), "the archive opens");
  for (std::size_t batch = 0; batch * batch_frames < frames; ++batch)
    (*archive)->append(payloads.batch(stream_of(batch), batch / 10 * batch_frames,
                                      std::min(batch_frames, frames - batch * batch_frames)));
  require((*archive)->close().has_value(), "every frame is durable");
}

template <class Work>
double milliseconds(Work work) {
  const Stopwatch watch{Clock::wall};
  work();
  return watch.elapsed_ns() / 1e6;
}

void measure(std::size_t frames) {
  const NoiseSet payloads{payload_bytes};
  const DiskDirectory directory;
  fill(directory.path(), payloads, frames);
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    bytes += entry.is_regular_file() ? entry.file_size() : 0;

  const std::size_t before_writer = resident_bytes();
  std::size_t writer_bytes = 0;
  const double write_open = milliseconds([&] {
    const auto archive = datastream::Archive::open(directory.path());
    require(archive.has_value(), "the archive opens again");
    writer_bytes = resident_bytes() - std::min(resident_bytes(), before_writer);
  });
  const double index_anew = milliseconds([&] {
    require(datastream::reindex(directory.path()).has_value(), "the index is made anew");
  });

  const std::size_t before_reader = resident_bytes();
  const Stopwatch opening{Clock::wall};
  auto reader = datastream::ArchiveReader::open(directory.path());
  require(reader.has_value(), "a reader opens");
  auto stream = reader->stream(stream_of(0));
  require(stream.has_value(), "the stream is found");
  const double read_open = opening.elapsed_ns() / 1e6;

  std::mt19937_64 random(frames);
  std::vector<double> reads;
  for (int i = 0; i < point_reads; ++i) {
    const std::uint64_t position = random() % stream->size();
    const Stopwatch watch{Clock::wall};
    const auto frame = stream->at({position});
    reads.push_back(watch.elapsed_ns() / 1e3);
    require(frame && *frame && (*frame)->payload == payloads[position], "the frame is found");
  }

  std::uint64_t read = 0;
  const double scan = milliseconds([&] {
    auto cursor = reader->read_from({0});
    require(cursor.has_value(), "a cursor begins");
    for (auto batch = cursor->next(); batch && *batch; batch = cursor->next())
      read += (*batch)->frames.size();
  });
  require(read == frames, "every frame is read");
  const std::size_t reader_bytes = resident_bytes() - std::min(resident_bytes(), before_reader);

  fmt::print(
      "{:>12}{:>10.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>10.0f}{:>10.0f}{:>12.1f}\n",
      frames, static_cast<double>(bytes) / 1e6, write_open, static_cast<double>(writer_bytes) / 1e6,
      index_anew, read_open, static_cast<double>(reader_bytes) / 1e6, quantile(reads, 0.5),
      quantile(reads, 0.99), scan * 1e6 / static_cast<double>(frames));
  std::fflush(stdout);
}

void measure_growth(const std::vector<std::size_t>& sizes) {
  fmt::print("{:>12}{:>10}{:>12}{:>12}{:>12}{:>12}{:>12}{:>10}{:>10}{:>12}\n", "frames",
             "files, MB", "writer, ms", "MB", "reindex, ms", "reader, ms", "MB", "point, us",
             "99 %", "scan, ns/f");
  for (const std::size_t frames : sizes)
    measure(frames);
}

void measure_blocks(const std::vector<std::size_t>& sizes) {
  print_head_of_small_blocks();
  for (const std::size_t blocks : sizes)
    measure_small_blocks(blocks, 1);
  if (sizes.empty()) {
    measure_small_blocks(100'000, 1);
    measure_small_blocks(100'000, 16);
    measure_small_blocks(1'000'000, 1);
  }
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const bool only_blocks = !arguments.empty() && arguments.front() == "--blocks";
  std::vector<std::size_t> sizes;
  for (const std::string_view argument : arguments | std::views::drop(only_blocks ? 1 : 0)) {
    std::size_t size = 0;
    const char* const end = argument.data() + argument.size();
    if (std::from_chars(argument.data(), end, size).ptr != end || size == 0) {
      std::fprintf(stderr, "usage: %s [FRAMES...] or %s --blocks [BLOCKS...]\n", argv[0], argv[0]);
      return 2;
    }
    sizes.push_back(size);
  }
  if (!only_blocks)
    measure_growth(sizes.empty() ? std::vector<std::size_t>{100'000, 1'000'000, 10'000'000}
                                 : sizes);
  if (only_blocks || sizes.empty())
    measure_blocks(sizes);
}
