/// Rows 11 and 12: durable storage in groups of a given size, elapsed time. Ours is the whole
/// archive: duplicates recognised, blocks encoded and checksummed, index followed, and one group
/// filled while the one before it is synced. The raw limit of row 11 writes as many bytes and calls
/// `fdatasync`; RocksDB, in row 12, has a key and a value for each frame in one synced batch.

#include "archive_frames.hpp"

#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/require.hpp"
#include "harness/table.hpp"

#include <datastream/archive/archive.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace bench;

/// How many frames, in groups of how many.
struct Amount {
  std::size_t group = 0;
  std::size_t groups = 0;

  std::size_t frames() const { return group * groups; }
};

const datastream::StreamId stream{"bench", {1}};

std::vector<datastream::FrameBatch> batches_of(const NoiseSet& payloads, const Amount& amount) {
  constexpr std::size_t batch_frames = 1024;
  std::vector<datastream::FrameBatch> batches;
  for (std::size_t first = 0; first < amount.frames();) {
    const std::size_t rest = amount.group - first % amount.group;
    const std::size_t count = std::min(rest, batch_frames);
    batches.push_back(payloads.batch(stream, first, count));
    first += count;
  }
  return batches;
}

double store_ours(const std::vector<datastream::FrameBatch>& batches, std::size_t size,
                  const Amount& amount) {
  const DiskDirectory directory;
  // A group is full with so many frames, and who appends waits until it is taken.
  auto archive =
      datastream::Archive::open(directory.path(), {.group_bytes = amount.group * (size + 16),
                                                   .group_delay = std::chrono::milliseconds(1000)});
  require(archive.has_value(), "the archive opens");
  const Stopwatch watch{Clock::wall};
  for (const datastream::FrameBatch& batch : batches)
    (*archive)->append(batch);
  const auto last = (*archive)->flush();
  const double elapsed = watch.elapsed_ns();
  require(last && last->value == amount.frames(), "every frame is durable");
  const datastream::ArchiveLedger ledger = (*archive)->ledger();
  require(ledger.balanced() && ledger.stored == amount.frames(), "the ledger balances");
  require(ledger.commits >= amount.groups - amount.groups / 4,
          "groups are no larger than asked for");
  return elapsed / static_cast<double>(amount.frames());
}

double write_raw(const NoiseSet& payloads, const Amount& amount) {
  const DiskDirectory directory;
  const int file = ::open((directory.path() / "raw").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  require(file >= 0, "the file opens");
  std::string block(amount.group * (payloads.size() + 16), '\0');
  for (std::size_t at = 0; at < block.size(); at += payloads.size())
    payloads[at].copy(block.data() + at, std::min(payloads.size(), block.size() - at));
  const Stopwatch watch{Clock::wall};
  for (std::size_t i = 0; i < amount.groups; ++i) {
    require(::write(file, block.data(), block.size()) == static_cast<ssize_t>(block.size()),
            "the disk takes a block");
    require(::fdatasync(file) == 0, "the disk syncs");
  }
  const double elapsed = watch.elapsed_ns();
  ::close(file);
  return elapsed / static_cast<double>(amount.frames());
}

double store_rocksdb(const std::vector<datastream::FrameBatch>& batches, const Amount& amount) {
  const DiskDirectory directory;
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  require(rocksdb::DB::Open(options, directory.path().string(), &opened).ok(), "RocksDB opens");
  const std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::WriteOptions synced;
  synced.sync = true;
  const Stopwatch watch{Clock::wall};
  rocksdb::WriteBatch group;
  std::array<char, 16> key{};
  for (const datastream::FrameBatch& batch : batches) {
    for (const datastream::FrameView& frame : batch) {
      const std::uint64_t position = std::byteswap(frame.position.value);
      std::memcpy(key.data() + 8, &position, sizeof position);
      group.Put(rocksdb::Slice(key.data(), key.size()),
                rocksdb::Slice(frame.payload.data(), frame.payload.size()));
    }
    if (static_cast<std::size_t>(group.Count()) < amount.group)
      continue;
    require(db->Write(synced, &group).ok(), "RocksDB writes");
    group.Clear();
  }
  const double elapsed = watch.elapsed_ns();
  return elapsed / static_cast<double>(amount.frames());
}

enum class Reference { raw, rocksdb };

void measure(Table& table, Reference reference, std::size_t group, std::size_t groups,
             std::optional<double> target) {
  const NoiseSet payloads{120};
  const Amount amount{group, std::max<std::size_t>(table.frames(groups), 4)};
  const auto batches = batches_of(payloads, amount);
  const std::array references{
      reference == Reference::raw
          ? Side{"raw limit", [&] { return write_raw(payloads, amount); }}
          : Side{"RocksDB, synced", [&] { return store_rocksdb(batches, amount); }}};
  const auto results =
      compare({"ours", [&] { return store_ours(batches, payloads.size(), amount); }}, references,
              table.rounds());
  table.line(fmt::format("archive, durable, groups of {}", group), results[0], target);
}

void measure_other_sizes(Table& table, Reference reference) {
  if (!table.all_sizes())
    return;
  for (const std::size_t group : {1, 10, 100})
    measure(table, reference, group, 100, {});
  measure(table, reference, 10'000, 40, {});
}

void against_the_disk(Table& table) {
  measure(table, Reference::raw, 1'000, 100, 0.75);
  measure(table, Reference::raw, 8'192, 40, 0.8);
  measure_other_sizes(table, Reference::raw);
}

void against_rocksdb(Table& table) {
  measure(table, Reference::rocksdb, 1'000, 100, 2);
  measure(table, Reference::rocksdb, 8'192, 40, 5);
  measure_other_sizes(table, Reference::rocksdb);
}

const Row row_11{11, against_the_disk};
const Row row_12{12, against_rocksdb};

} // namespace
