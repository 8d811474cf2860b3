#include <datastream/archive/archive.hpp>

#include "archive_directory.hpp"
#include "format/descriptors_block.hpp"
#include "format/time.hpp"
#include "group.hpp"
#include "group_writer.hpp"
#include "stored_positions.hpp"

#include <datastream/detail/signals_blocked.hpp>
#include <datastream/log_sink.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace datastream {

namespace {

/// What a changed page of positions costs in the index.
constexpr std::size_t page_bytes = sizeof(PositionPage);

/// So that no clock overflows.
constexpr std::chrono::milliseconds longest_time = std::chrono::hours(24);

/// What is wrong with them; empty: nothing.
std::string fault_of(const ArchiveOptions& options) {
  using namespace std::chrono_literals;
  if (options.source.size() > format::text_bytes_max)
    return "a source of " + std::to_string(options.source.size()) +
           " bytes; an archive can keep one of " + std::to_string(format::text_bytes_max);
  if (options.group_bytes == 0)
    return "groups of no bytes, which nothing fits into";
  if (options.group_delay < 0ms || options.group_delay > longest_time)
    return "a group that waits " + std::to_string(options.group_delay.count()) +
           " ms; it may wait from 0 ms to a day";
  if (options.retry_interval < 1ms || options.retry_interval > longest_time)
    return "a retry every " + std::to_string(options.retry_interval.count()) +
           " ms; it may be from 1 ms to a day";
  return {};
}

/// Tells an event. Who listens may throw, and be it for lack of memory; what is told has happened
/// all the same.
template <class... Args>
void call(const std::function<void(Args...)>& event,
          const std::type_identity_t<Args>&... args) noexcept {
  if (!event)
    return;
  try {
    event(args...);
  } catch (...) {
    log_message(LogSeverity::error, "who was told of an event of an archive has thrown");
  }
}

} // namespace

/// Takes what is to be stored, has it stored by a thread of its own, and tells what became of it:
/// states, tickets and counts. What that thread alone has is its `GroupWriter`.
class Archive::Impl {
public:
  Impl(std::filesystem::path directory, ArchiveOptions options)
      : directory_(std::move(directory)), options_(std::move(options)),
        files_(options_.files ? *options_.files : posix_file_system()),
        positions_(options_.compared_frames), filling_(defaults::archive_block_bytes) {}
  ~Impl() { finish(); }

  std::expected<void, ArchiveError> open();

  Appended append(const FrameBatch& batch, std::int64_t arrival);
  std::uint64_t declare(const Declaration& declaration);
  std::uint64_t declare(const StreamStart& start);
  std::uint64_t declare(const StreamEnd& end);
  std::uint64_t commit();
  void count_refused_declaration() noexcept;
  std::expected<Sequence, ArchiveError> flush();
  std::expected<Sequence, ArchiveError> close();

  ArchiveLedger ledger() const;
  Sequence last_durable() const;
  std::optional<Position> highest_durable(const StreamId& stream) const;
  std::optional<ArchiveError> trouble() const;

  const std::filesystem::path& directory() const noexcept { return directory_; }
  const ArchiveRecovery& recovery() const noexcept { return recovery_; }
  const Catalog& catalog() const noexcept { return catalog_; }

private:
  using Lock = std::unique_lock<std::mutex>;
  enum class State { running, suspended, stopped, closed };

  /// A group on its way to the disk.
  struct Committing {
    Group group;
    StoredPositions::Changes changes{};
    std::vector<format::BlockStream> streams{}; ///< what is in it, once it is laid out
    std::uint64_t ticket = 0;
    /// Why it was not stored, should it not be.
    std::uint64_t NotStored::* reason = &NotStored::suspended;
  };

  /// How far a stream is known to reach.
  struct Reach {
    std::optional<Position> from;
    std::optional<std::uint64_t> assigned;
  };

  // On the thread of who appends.
  /// Takes what was said if `widen` says that it is new.
  template <class Widen>
  std::uint64_t note_reach(const StreamId& stream, Said said, Widen widen);

  // The same, with the lock.
  bool takes() const { return state_ == State::running && !closing_ && !index_failure_; }
  /// Keeps what was said for the next group, if there can be one.
  void keep(Said&& said) noexcept;
  bool wait_for_room(Lock& lock);
  std::size_t filling_bytes() const {
    return filling_.bytes() + positions_.changed_pages() * page_bytes;
  }
  /// No group may have more than a segment's index can take.
  bool is_full() const {
    return filling_bytes() >= options_.group_bytes ||
           filling_.index_bytes() >= defaults::archive_index_bytes;
  }
  /// With which everything taken so far is done.
  std::uint64_t taken_ticket() const {
    // What waits for room is not waited for: sources must go on.
    return filling_.empty() || state_ != State::running ? ticket_ - 1 : ticket_;
  }
  std::uint64_t NotStored::* reason() const;

  // On the committing thread.
  void run();
  bool wants_commit() const;
  void commit_filling(Lock& lock);
  /// Makes a group durable.
  std::expected<void, WriteFailure> store(Committing& committing);
  std::expected<void, ArchiveError> publish();
  std::expected<void, ArchiveError> follow(const Committing& committing);
  // The same where something has failed: without memory, for there may be none.
  ArchiveError no_memory() const noexcept;
  void fail(Lock& lock, Committing& committing, WriteFailure failure) noexcept;
  /// Nothing is stored from here on; what was about to be is not, for this reason.
  void suspend(Lock& lock, ArchiveError error,
               std::uint64_t NotStored::* reason = &NotStored::suspended) noexcept;
  /// The same for good.
  void stop(Lock& lock, ArchiveError error) noexcept;
  void drop_filling(std::uint64_t NotStored::* reason) noexcept;
  /// Without the lock, which is taken back.
  void tell(Lock& lock, const std::function<void(const ArchiveError&)>& event) noexcept;
  void try_to_resume(Lock& lock);

  void finish() noexcept;

  const std::filesystem::path directory_;
  const ArchiveOptions options_;
  FileSystem& files_;
  ArchiveRecovery recovery_;
  Catalog catalog_;
  std::unique_ptr<FileLock> lock_;

  // The committing thread's own.
  GroupWriter writer_{directory_, options_, files_, catalog_};
  Group spare_{defaults::archive_block_bytes}; ///< for the next one to fill, with its memory

  std::mutex closing_mutex_; ///< before `mutex_`
  mutable std::mutex mutex_;
  std::condition_variable work_; ///< for the committing thread
  std::condition_variable room_; ///< for those who append
  std::condition_variable done_; ///< for those who flush
  State state_ = State::running;
  bool in_trouble_ = false;
  /// Found while appending: what was taken is committed, then ingest stands still.
  std::optional<ArchiveError> index_failure_;
  StoredPositions positions_;
  format::Compressor filling_compressor_;
  Group filling_;
  std::uint64_t ticket_ = 1; ///< of the group that is filling
  std::uint64_t done_ticket_ = 0;
  std::uint64_t failed_ticket_ = 0; ///< the last group that was not stored
  /// Why, and of the trouble, as far as that is known by now. Only the committing thread changes
  /// it, and so reads it without lock.
  ArchiveError last_failure_{};
  bool commit_wanted_ = false;
  bool closing_ = false;
  Sequence last_durable_;
  std::unordered_map<StreamId, std::optional<Position>> highest_durable_;
  /// What was said since this was opened, so that it is written once.
  std::unordered_map<StreamId, Reach> reaches_;
  ArchiveLedger ledger_;

  std::thread committer_;
};

std::expected<void, ArchiveError> Archive::Impl::open() {
  if (auto made = create_archive_directory(files_, directory_); !made)
    return made;
  auto lock = lock_archive(files_, directory_);
  if (!lock)
    return std::unexpected(std::move(lock.error()));
  lock_ = std::move(*lock);
  if (auto opened = writer_.open(positions_); !opened)
    return std::unexpected(std::move(opened.error().error));
  recovery_ = writer_.recovery();
  last_durable_ = writer_.last();
  const detail::SignalsBlocked blocked;
  try {
    committer_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return std::unexpected(
        ArchiveError{ArchiveError::Kind::io,
                     directory_.string() + ": no thread can be started: " + error.what(),
                     {}});
  }
  return {};
}

// ------------------------------------------------------------------------------ appending

std::uint64_t NotStored::* Archive::Impl::reason() const {
  return state_ == State::suspended ? &NotStored::suspended : &NotStored::stopped;
}

bool Archive::Impl::wait_for_room(Lock& lock) {
  while (takes() && is_full()) {
    work_.notify_one();
    room_.wait(lock);
  }
  return takes();
}

Archive::Appended Archive::Impl::append(const FrameBatch& batch, std::int64_t arrival) {
  Lock lock(mutex_);
  Appended result;
  ledger_.offered += batch.size();
  const auto rest_is_lost = [&](std::size_t from, std::uint64_t NotStored::* why) {
    ledger_.not_stored.*why += batch.size() - from;
    result.not_stored += batch.size() - from;
  };
  if (!batch.empty() && batch.stream().node.value.size() > format::text_bytes_max) {
    rest_is_lost(0, &NotStored::too_large);
    result.ticket = taken_ticket();
    return result;
  }
  bool was_empty = filling_.empty(); ///< the committing thread may wait for the first of it
  std::size_t next = 0;
  bool begun = false; ///< the group that is filling knows of this batch
  try {
    for (; next < batch.size(); ++next) {
      if (!takes() || is_full()) {
        begun = false;
        if (takes())
          filling_.close_block(filling_compressor_); // while the disk is busy with the one before
        if (!wait_for_room(lock)) {
          rest_is_lost(next, reason());
          break;
        }
        was_empty = was_empty || filling_.empty();
      }
      const FrameView frame = batch[next];
      if (frame.payload.size() > format::body_bytes_max - format::frame_entry_bytes) {
        ++ledger_.not_stored.too_large;
        ++result.not_stored;
        continue;
      }
      const auto place = positions_.look(batch.stream(), frame);
      if (!place) {
        index_failure_ = place.error();
        rest_is_lost(next, &NotStored::suspended);
        break;
      }
      switch (place->seen) {
      case StoredPositions::Seen::fresh:
        if (!begun)
          filling_.begin_batch(batch.shared_stream(), arrival);
        begun = true;
        filling_.add(frame, filling_compressor_);
        positions_.mark(*place);
        ++ledger_.pending;
        ++result.taken;
        break;
      case StoredPositions::Seen::duplicate:
        ++ledger_.duplicates;
        ++result.duplicates;
        break;
      case StoredPositions::Seen::conflict:
        ++ledger_.conflicts;
        ++result.conflicts;
        break;
      case StoredPositions::Seen::unverified:
        ++ledger_.unverified;
        ++result.unverified;
        break;
      }
    }
  } catch (const std::bad_alloc&) {
    rest_is_lost(next, &NotStored::out_of_memory);
  }
  result.ticket = taken_ticket();
  // A thread that is woken for every batch costs more than the batch.
  if (was_empty || index_failure_ || (takes() && is_full()))
    work_.notify_one();
  return result;
}

std::uint64_t Archive::Impl::declare(const Declaration& declaration) {
  const Lock lock(mutex_);
  if (!format::fits(declaration)) {
    ++ledger_.refused_declarations;
    return ticket_ - 1;
  }
  // What is in the catalog is not taken again, so it must not be forgotten.
  Said said{.declarations = {declaration}, .starts = {}, .ends = {}};
  const auto declared = catalog_.declare(declaration);
  ledger_.conflicting_declarations += declared ? 0 : 1;
  const bool is_new = declared && *declared;
  if (is_new)
    keep(std::move(said));
  return taken_ticket();
}

std::uint64_t Archive::Impl::declare(const StreamStart& start) {
  return note_reach(start.stream, {.declarations = {}, .starts = {start}, .ends = {}},
                    [&](Reach& known) {
                      const bool is_new = !known.from || start.from < *known.from;
                      if (is_new)
                        known.from = start.from;
                      return is_new;
                    });
}

std::uint64_t Archive::Impl::declare(const StreamEnd& end) {
  return note_reach(end.stream, {.declarations = {}, .starts = {}, .ends = {end}},
                    [&](Reach& known) {
                      const bool is_new = !known.assigned || end.assigned > *known.assigned;
                      if (is_new)
                        known.assigned = end.assigned;
                      return is_new;
                    });
}

template <class Widen>
std::uint64_t Archive::Impl::note_reach(const StreamId& stream, Said said, Widen widen) {
  const Lock lock(mutex_);
  if (!format::fits(stream)) {
    ++ledger_.refused_declarations;
    return ticket_ - 1;
  }
  if (widen(reaches_[stream]))
    keep(std::move(said));
  return taken_ticket();
}

void Archive::Impl::keep(Said&& said) noexcept {
  if (closing_ || state_ == State::stopped) {
    ledger_.refused_declarations += said.size();
    return;
  }
  filling_.say(std::move(said));
  work_.notify_one();
}

void Archive::Impl::count_refused_declaration() noexcept {
  const Lock lock(mutex_);
  ++ledger_.refused_declarations;
}

std::uint64_t Archive::Impl::commit() {
  const Lock lock(mutex_);
  commit_wanted_ = true;
  work_.notify_one();
  return taken_ticket();
}

std::expected<Sequence, ArchiveError> Archive::Impl::flush() {
  Lock lock(mutex_);
  const std::uint64_t done_before = done_ticket_;
  const std::uint64_t wanted = taken_ticket();
  commit_wanted_ = true;
  work_.notify_one();
  done_.wait(lock, [&] { return done_ticket_ >= wanted || state_ != State::running; });
  if (in_trouble_ || failed_ticket_ > done_before) // and all may be well again
    return std::unexpected(last_failure_);
  return last_durable_;
}

void Archive::Impl::finish() noexcept {
  const Lock once(closing_mutex_);
  {
    const Lock lock(mutex_);
    closing_ = true;
    work_.notify_one();
    room_.notify_all();
  }
  if (committer_.joinable())
    committer_.join();
}

std::expected<Sequence, ArchiveError> Archive::Impl::close() {
  finish();
  const Lock lock(mutex_);
  if (in_trouble_)
    return std::unexpected(last_failure_);
  return last_durable_;
}

// ----------------------------------------------------------------------------- committing

bool Archive::Impl::wants_commit() const {
  return !filling_.empty() && (closing_ || commit_wanted_ || index_failure_ || is_full() ||
                               Group::Clock::now() >= filling_.begun() + options_.group_delay);
}

void Archive::Impl::run() {
  Lock lock(mutex_);
  while (true) {
    if (state_ == State::stopped) {
      work_.wait(lock, [&] { return closing_; });
      break;
    }
    if (state_ == State::suspended) {
      if (work_.wait_for(lock, options_.retry_interval, [&] { return closing_; }))
        break;
      try_to_resume(lock);
      continue;
    }
    if (wants_commit()) {
      commit_filling(lock);
      continue;
    }
    if (index_failure_) {
      suspend(lock, std::move(*index_failure_));
      continue;
    }
    commit_wanted_ = false;
    if (closing_)
      break;
    if (filling_.empty())
      work_.wait(lock);
    else
      work_.wait_until(lock, filling_.begun() + options_.group_delay);
  }
  if (state_ != State::running) {
    ledger_.refused_declarations += filling_.said().size();
    return;
  }
  lock.unlock();
  std::expected<void, ArchiveError> closed;
  try {
    closed = writer_.close();
  } catch (const std::bad_alloc&) {
    closed = std::unexpected(no_memory());
  }
  lock.lock();
  if (closed) {
    state_ = State::closed;
    return;
  }
  last_failure_ = std::move(closed.error());
  in_trouble_ = true;
}

void Archive::Impl::commit_filling(Lock& lock) {
  Committing committing{.group = std::move(spare_), .ticket = ticket_};
  try {
    committing.changes = positions_.take_changes();
  } catch (const std::bad_alloc&) {
    // What waits for room must not wait for memory.
    spare_ = std::move(committing.group);
    suspend(lock, no_memory(), &NotStored::out_of_memory);
    return;
  }
  std::swap(committing.group, filling_);
  ++ticket_;
  commit_wanted_ = false;
  room_.notify_all();
  lock.unlock();

  std::expected<void, WriteFailure> stored;
  try {
    stored = store(committing);
  } catch (const std::bad_alloc&) {
    stored = std::unexpected(WriteFailure{no_memory()});
    committing.reason = &NotStored::out_of_memory;
  }
  if (!stored) {
    lock.lock();
    fail(lock, committing, std::move(stored.error()));
    committing.group.clear();
    spare_ = std::move(committing.group);
    return;
  }
  std::expected<void, ArchiveError> followed = publish();

  lock.lock();
  ++ledger_.commits;
  ledger_.pending -= committing.group.frames();
  ledger_.stored += committing.group.frames();
  last_durable_ = writer_.last();
  for (const format::BlockStream& stream : committing.streams) {
    std::optional<Position>& highest = highest_durable_.find(*stream.stream)->second;
    highest = highest ? std::max(*highest, stream.highest) : stream.highest;
  }
  done_ticket_ = committing.ticket;
  done_.notify_all();
  lock.unlock();
  call(options_.events.committed, committing.ticket);

  if (followed)
    followed = follow(committing);
  committing.group.clear();
  spare_ = std::move(committing.group);
  lock.lock();
  if (followed)
    positions_.committed(committing.changes.number);
  else
    suspend(lock, std::move(followed.error()));
}

std::expected<void, WriteFailure> Archive::Impl::store(Committing& committing) {
  auto laid_out = writer_.lay_out(committing.group);
  if (!laid_out)
    return std::unexpected(std::move(laid_out.error()));
  committing.streams = std::move(laid_out->streams);
  {
    // Nothing may fail any more once the group is durable.
    const Lock lock(mutex_);
    for (const format::BlockStream& stream : committing.streams)
      highest_durable_.try_emplace(*stream.stream);
  }
  return writer_.store(*laid_out, committing.group);
}

std::expected<void, ArchiveError> Archive::Impl::publish() {
  try {
    return writer_.publish();
  } catch (const std::bad_alloc&) {
    return std::unexpected(no_memory());
  }
}

std::expected<void, ArchiveError> Archive::Impl::follow(const Committing& committing) {
  try {
    return writer_.follow(committing.group.said(), committing.changes);
  } catch (const std::bad_alloc&) {
    return std::unexpected(no_memory());
  }
}

ArchiveError Archive::Impl::no_memory() const noexcept {
  try {
    return {ArchiveError::Kind::io, directory_.string() + ": there is no memory to commit", {}};
  } catch (const std::bad_alloc&) {
    return error_without_memory("no memory");
  }
}

// ------------------------------------------------------------------------- failing, resuming

void Archive::Impl::fail(Lock& lock, Committing& committing, WriteFailure failure) noexcept {
  ledger_.pending -= committing.group.frames();
  ledger_.not_stored.*(failure.of_sync ? &NotStored::stopped : committing.reason) +=
      committing.group.frames();
  // Names and ends are few, and nobody sends them again: they wait for better times.
  filling_.say_first(committing.group.take_said());
  failed_ticket_ = committing.ticket;
  if (failure.of_sync)
    stop(lock, std::move(failure.error));
  else
    suspend(lock, std::move(failure.error));
}

void Archive::Impl::drop_filling(std::uint64_t NotStored::* reason) noexcept {
  ledger_.pending -= filling_.frames();
  ledger_.not_stored.*reason += filling_.frames();
  filling_.drop_frames();
  failed_ticket_ = ticket_;
  done_ticket_ = ticket_++;
  room_.notify_all();
  done_.notify_all();
}

void Archive::Impl::suspend(Lock& lock, ArchiveError error,
                            std::uint64_t NotStored::* reason) noexcept {
  if (state_ != State::running)
    return;
  state_ = State::suspended;
  index_failure_.reset();
  last_failure_ = std::move(error);
  in_trouble_ = true;
  // Its frames were compared with others that are not stored.
  drop_filling(reason);
  work_.notify_one();
  tell(lock, options_.events.suspended);
}

void Archive::Impl::stop(Lock& lock, ArchiveError error) noexcept {
  error.kind = ArchiveError::Kind::stopped;
  try {
    error.message += "; the archive takes nothing more until it is opened again";
  } catch (const std::bad_alloc&) {
    // why is more important
  }
  state_ = State::stopped;
  last_failure_ = std::move(error);
  in_trouble_ = true;
  drop_filling(&NotStored::stopped);
  ledger_.refused_declarations += filling_.take_said().size();
  tell(lock, options_.events.stopped);
}

void Archive::Impl::tell(Lock& lock,
                         const std::function<void(const ArchiveError&)>& event) noexcept {
  const std::uint64_t ticket = done_ticket_;
  lock.unlock();
  call(event, last_failure_);
  call(options_.events.failed, ticket);
  lock.lock();
}

void Archive::Impl::try_to_resume(Lock& lock) {
  lock.unlock();
  std::expected<void, WriteFailure> opened;
  try {
    opened = writer_.open(positions_);
  } catch (const std::bad_alloc&) {
    opened = std::unexpected(WriteFailure{no_memory()});
  }
  lock.lock();
  if (!opened) {
    if (opened.error().of_sync)
      stop(lock, std::move(opened.error().error));
    else
      last_failure_ = std::move(opened.error().error);
    return;
  }
  last_durable_ = writer_.last();
  state_ = State::running;
  in_trouble_ = false;
  lock.unlock();
  call(options_.events.resumed);
  lock.lock();
}

// ------------------------------------------------------------------------------- telling

ArchiveLedger Archive::Impl::ledger() const {
  const Lock lock(mutex_);
  return ledger_;
}

Sequence Archive::Impl::last_durable() const {
  const Lock lock(mutex_);
  return last_durable_;
}

std::optional<Position> Archive::Impl::highest_durable(const StreamId& stream) const {
  const Lock lock(mutex_);
  const auto known = highest_durable_.find(stream);
  return known == highest_durable_.end() ? std::nullopt : known->second;
}

std::optional<ArchiveError> Archive::Impl::trouble() const {
  const Lock lock(mutex_);
  return in_trouble_ ? std::optional(last_failure_) : std::nullopt;
}

// ------------------------------------------------------------------------------- Archive

Archive::Archive(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Archive::~Archive() = default;

std::expected<std::unique_ptr<Archive>, ArchiveError>
Archive::open(const std::filesystem::path& directory, ArchiveOptions options) {
  if (std::string fault = fault_of(options); !fault.empty())
    return std::unexpected(ArchiveError{
        ArchiveError::Kind::bad_input, directory.string() + ": " + std::move(fault), {}});
  auto impl = std::make_unique<Impl>(directory, std::move(options));
  if (auto opened = impl->open(); !opened)
    return std::unexpected(std::move(opened.error()));
  return std::unique_ptr<Archive>(new Archive(std::move(impl)));
}

const std::filesystem::path& Archive::directory() const noexcept {
  return impl_->directory();
}

const ArchiveRecovery& Archive::recovery() const noexcept {
  return impl_->recovery();
}

Archive::Appended Archive::append(const FrameBatch& batch) {
  return append(batch, std::chrono::system_clock::now());
}

Archive::Appended Archive::append(const FrameBatch& batch,
                                  std::chrono::system_clock::time_point arrival) {
  return impl_->append(batch, format::microseconds_of(arrival));
}

Archive::Appended Archive::append(const EventBatch& events) {
  std::uint64_t ticket = 0;
  const auto declare = [&](const auto& entry) {
    try {
      ticket = std::max(ticket, impl_->declare(entry));
    } catch (const std::bad_alloc&) {
      impl_->count_refused_declaration();
    }
  };
  std::ranges::for_each(events.declarations, declare);
  std::ranges::for_each(events.starts, declare);
  Appended appended;
  if (!events.frames.empty())
    appended = append(events.frames);
  if (events.ended)
    declare(*events.ended);
  appended.ticket = std::max(appended.ticket, ticket);
  return appended;
}

std::uint64_t Archive::begin(const SubscriptionStart& start) {
  std::uint64_t ticket = declare(start.snapshot);
  for (const StreamStart& stream : start.starts)
    ticket = std::max(ticket, impl_->declare(stream));
  return ticket;
}

std::uint64_t Archive::declare(const Declaration& declaration) {
  return impl_->declare(declaration);
}

std::uint64_t Archive::declare(const DatastreamSnapshot& snapshot) {
  std::uint64_t ticket = 0;
  for (const StreamDescriptor& stream : snapshot.streams)
    ticket = std::max(ticket, declare(std::make_shared<const StreamDescriptor>(stream)));
  for (const ChannelDescriptor& channel : snapshot.channels)
    ticket = std::max(ticket, declare(std::make_shared<const ChannelDescriptor>(channel)));
  return ticket;
}

std::uint64_t Archive::commit() {
  return impl_->commit();
}

std::expected<Sequence, ArchiveError> Archive::flush() {
  return impl_->flush();
}

std::expected<Sequence, ArchiveError> Archive::close() {
  return impl_->close();
}

ArchiveLedger Archive::ledger() const {
  return impl_->ledger();
}

Sequence Archive::last_durable() const {
  return impl_->last_durable();
}

std::optional<Position> Archive::highest_durable(const StreamId& stream) const {
  return impl_->highest_durable(stream);
}

const Catalog& Archive::catalog() const {
  return impl_->catalog();
}

std::optional<ArchiveError> Archive::trouble() const {
  return impl_->trouble();
}

} // namespace datastream
