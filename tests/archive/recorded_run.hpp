#pragma once
/// What a scripted life of an archive did to the disk, and what it promised meanwhile.

#include "archive_test_support.hpp"
#include "simulated_disk.hpp"
#include "watched_files.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace datastream::test {

/// What must hold after a power cut at some moment, in counts: sequences are given out, and
/// declarations, beginnings and ends said, in one order.
struct Promised {
  std::size_t frames = 0;       ///< acknowledged
  std::size_t seen = 0;         ///< below the tip's end: a reader could have had them
  std::size_t declarations = 0; ///< acknowledged
  std::size_t reaches = 0;      ///< acknowledged

  friend bool operator==(const Promised&, const Promised&) = default;
};

/// Where a stream was said to begin or to end.
using Reach = std::variant<StreamStart, StreamEnd>;

/// Either an operation on a file, or that everything up to this ticket is durable.
struct DiskEvent {
  FileOperation operation{};
  std::optional<std::uint64_t> committed{};
};

/// What was there when a run began.
struct Beginning {
  DiskImage durable;            ///< all synced
  std::deque<DiskEvent> events; ///< what happened since then
  std::vector<StoredFrame> stored;
  std::vector<Declaration> declared;
  std::vector<Reach> reaches;
  Promised promised;
};

/// An archive on files that are recorded. Everything happens in one order: who calls this is one
/// thread, and groups are committed only when it asks.
class RecordedRun : private FileWatcher {
public:
  explicit RecordedRun(ArchiveOptions options, Beginning beginning = {});
  ~RecordedRun() override;

  /// The first time, what is stored may be less than what was there, but for what was promised.
  void open();
  void close();
  void append(const StreamId& stream, const std::vector<Frame>& frames);
  void declare(const Declaration& declaration);
  void begin(const StreamStart& start);
  void end(const StreamEnd& end);
  /// Commits, and waits until that is done and followed by the index.
  void flush();

  const ArchiveOptions& options() const noexcept { return options_; }
  const DiskImage& durable() const noexcept { return durable_; }
  const Promised& promised_initially() const noexcept { return promised_initially_; }
  /// What happened before and since this run began; what happened before.
  const std::deque<DiskEvent>& events() const noexcept { return events_; }
  std::size_t earlier_events() const noexcept { return earlier_events_; }
  /// In the order of their sequences, the first one of which is 1.
  const std::vector<StoredFrame>& stored() const noexcept { return stored_; }
  const std::vector<Declaration>& declared() const noexcept { return declared_; }
  const std::vector<Reach>& reaches() const noexcept { return reaches_; }
  /// What is promised with this ticket.
  Promised promised(std::uint64_t ticket) const;

private:
  void done(FileOperation operation) override;
  void note_taken(std::uint64_t ticket);

  ArchiveOptions options_;
  DiskImage durable_;
  Promised promised_initially_;
  std::size_t earlier_events_;
  TemporaryDirectory root_;
  std::mutex mutex_; ///< of `events_`
  std::deque<DiskEvent> events_;
  std::vector<StoredFrame> stored_;
  std::set<std::pair<StreamId, Position>> positions_; ///< of `stored_`
  std::vector<Declaration> declared_;
  std::vector<Reach> reaches_;
  std::vector<std::pair<std::uint64_t, Promised>> tickets_; ///< ascending
  std::uint64_t first_ticket_ = 0;                          ///< of this life, less 1
  WatchedFiles watched_;
  std::unique_ptr<Archive> archive_;
};

} // namespace datastream::test
