#include "recorded_run.hpp"

#include <algorithm>

namespace datastream::test {

RecordedRun::RecordedRun(ArchiveOptions options, Beginning beginning)
    : options_(std::move(options)), durable_(std::move(beginning.durable)),
      promised_initially_(beginning.promised), earlier_events_(beginning.events.size()),
      events_(std::move(beginning.events)), stored_(std::move(beginning.stored)),
      declared_(std::move(beginning.declared)), reaches_(std::move(beginning.reaches)),
      watched_(root_.path(), *this) {
  SimulatedDisk disk(durable_);
  for (const DiskEvent& event : events_)
    if (!event.committed)
      disk.apply(event.operation);
  disk.now().write_to(root_.path());
}

RecordedRun::~RecordedRun() = default;

void RecordedRun::open() {
  ArchiveOptions options = options_;
  options.group_delay = std::chrono::hours(1);
  options.files = &watched_.files();
  options.metadata = watched_.env();
  first_ticket_ = tickets_.empty() ? 0 : tickets_.back().first;
  options.events.committed = [this, first = first_ticket_](std::uint64_t ticket) {
    const std::lock_guard lock(mutex_);
    events_.push_back({.committed = first + ticket});
  };
  archive_ = opened(root_ / "archive", std::move(options));
  const std::size_t found = archive_->last_durable().value;
  if (tickets_.empty()) {
    REQUIRE(found >= std::max(promised_initially_.frames, promised_initially_.seen));
    REQUIRE(found <= stored_.size());
    stored_.resize(found);
    declared_.resize(promised_initially_.declarations);
    reaches_.resize(promised_initially_.reaches);
    for (const StoredFrame& frame : stored_)
      positions_.emplace(frame.stream, frame.frame.position);
  }
  REQUIRE(found == stored_.size());
}

void RecordedRun::close() {
  REQUIRE(archive_->close());
  archive_.reset();
}

void RecordedRun::append(const StreamId& stream, const std::vector<Frame>& frames) {
  const auto appended = archive_->append(FrameBatch::copy_of(stream, frames));
  std::size_t taken = 0;
  for (const Frame& frame : frames)
    if (positions_.emplace(stream, frame.position).second) {
      stored_.push_back({stored_.size() + 1, stream, frame});
      ++taken;
    }
  REQUIRE(appended.taken == taken);
  REQUIRE(appended.not_stored == 0);
  note_taken(appended.ticket);
}

void RecordedRun::declare(const Declaration& declaration) {
  const std::uint64_t ticket = archive_->declare(declaration);
  declared_.push_back(declaration);
  note_taken(ticket);
}

void RecordedRun::begin(const StreamStart& start) {
  SubscriptionStart subscription;
  subscription.starts = {start};
  const std::uint64_t ticket = archive_->begin(subscription);
  reaches_.emplace_back(start);
  note_taken(ticket);
}

void RecordedRun::end(const StreamEnd& end) {
  EventBatch events;
  events.ended = end;
  const std::uint64_t ticket = archive_->append(events).ticket;
  reaches_.emplace_back(end);
  note_taken(ticket);
}

void RecordedRun::note_taken(std::uint64_t ticket) {
  tickets_.emplace_back(first_ticket_ + ticket,
                        Promised{stored_.size(), 0, declared_.size(), reaches_.size()});
}

void RecordedRun::flush() {
  REQUIRE(archive_->flush());
}

void RecordedRun::done(FileOperation operation) {
  const std::lock_guard lock(mutex_);
  events_.push_back({.operation = std::move(operation)});
}

Promised RecordedRun::promised(std::uint64_t ticket) const {
  const auto behind =
      std::ranges::upper_bound(tickets_, ticket, {}, [](const auto& taken) { return taken.first; });
  return behind == tickets_.begin() ? Promised{} : std::prev(behind)->second;
}

} // namespace datastream::test
