#include "archive_actor.hpp"

#include <datastream/actors/detail/follow.hpp>
#include <datastream/actors/detail/peer_errors.hpp>
#include <datastream/caf/handlers.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/thread_logger.hpp>
#include <datastream/log_sink.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>

#include <algorithm>
#include <chrono>
#include <new>
#include <sstream>
#include <utility>

namespace datastream {

namespace {

/// Until memory is looked for again, to tell an actor something.
constexpr std::chrono::milliseconds memory_retry{1};

} // namespace

void ArchiveMailbox::belong_to(const caf::actor& actor) {
  const std::lock_guard lock(mutex_);
  actor_ = caf::actor_cast<caf::actor_addr>(actor);
  has_actor_ = true;
}

void ArchiveMailbox::leave() noexcept {
  const std::lock_guard lock(mutex_);
  has_actor_ = false;
  left_.notify_all();
}

void ArchiveMailbox::keep(const ArchiveOutcome& outcome) noexcept {
  if (!outcomes_.empty() && outcomes_.back().stored == outcome.stored) {
    outcomes_.back().ticket = outcome.ticket;
    return;
  }
  try {
    outcomes_.push_back(outcome);
  } catch (const std::bad_alloc&) {
    outcomes_.back() = {outcome.ticket, false}; // what is said to be stored has to be
  }
}

void ArchiveMailbox::put(const ArchiveOutcome& outcome) {
  std::unique_lock lock(mutex_);
  keep(outcome);
  while (has_actor_ && !told_) {
    try {
      if (const auto actor = caf::actor_cast<caf::actor>(actor_))
        compat::anon_send(actor, committed_atom_v);
      told_ = true;
    } catch (const std::bad_alloc&) {
      left_.wait_for(lock, memory_retry);
    }
  }
}

void ArchiveMailbox::take(std::vector<ArchiveOutcome>& outcomes) noexcept {
  outcomes.clear();
  const std::lock_guard lock(mutex_);
  outcomes_.swap(outcomes);
  told_ = false;
}

ArchiveActor::ArchiveActor(caf::actor_config& config, std::unique_ptr<Archive> archive,
                           std::shared_ptr<ArchiveMailbox> mailbox, ArchiveActorOptions options)
    : caf::event_based_actor(config), archive_(std::move(archive)), mailbox_(std::move(mailbox)),
      options_(std::move(options)), subscriber_(this),
      publishers_(std::make_shared<Window>(
          Window{{defaults::subscriber_actor_frames, defaults::subscriber_bytes}})) {
  outcomes_.reserve(ArchiveMailbox::room);
}

caf::behavior ArchiveActor::make_behavior() {
  mailbox_->belong_to(caf::actor(this));
  return subscriber_.handlers(
      [this](follow_atom, const caf::actor& endpoint) { return follow(endpoint); },
      [this](publish_atom, const EventBatch& batch) { return publish(batch); },
      [this](publish_atom, const SubscriptionStart& start) { return publish(start); },
      [this](flush_atom) { return flush(); }, [this](ledger_atom) { return status(); },
      [this](committed_atom) { note_outcomes(); }, peer_errors(this),
      compat::exit_before_watchers(this));
}

void ArchiveActor::on_exit() {
  if (!archive_)
    return;
  mailbox_->leave(); // who closes an archive waits for its thread
  if (const auto closed = archive_->close(); !closed)
    log_message(LogSeverity::error, "an archive was closed in trouble: " + closed.error().message);
  note_outcomes();
  note_outcome({UINT64_MAX, false});
  archive_.reset();
}

caf::result<SubscriptionStart> ArchiveActor::follow(const caf::actor& endpoint) {
  const auto window = std::make_shared<Window>(Window{options_.subscribe.capacity});
  return datastream::follow(
      this, subscriber_, endpoint,
      {.on_delivery =
           [this, window](const EventBatch& batch, const Receipt& receipt) {
             acknowledge(take(batch), batch.frames, window,
                         [receipt](bool) { receipt.acknowledge(); });
           },
       .on_start = [this](const SubscriptionStart& start) { publish(start); }},
      options_.subscribe);
}

caf::result<EndpointTick> ArchiveActor::publish(const EventBatch& batch) {
  const Archive::Appended appended = take(batch);
  const std::size_t frames = batch.frames.size();
  auto promise = make_response_promise<EndpointTick>();
  acknowledge(appended, batch.frames, publishers_,
              [promise, appended, frames](bool stored) mutable {
                const std::size_t lost = appended.not_stored + (stored ? 0 : appended.taken);
                promise.deliver(EndpointTick{.drained = frames,
                                             .delivered = frames - lost,
                                             .dropped_for_subscribers = lost,
                                             .subscribers = 1});
              });
  return promise;
}

EndpointTick ArchiveActor::publish(const SubscriptionStart& start) {
  last_ticket_ = std::max(last_ticket_, archive_->begin(start));
  return {.subscribers = 1};
}

Archive::Appended ArchiveActor::take(const EventBatch& batch) {
  malformed_ += batch.malformed;
  Archive::Appended appended = archive_->append(batch);
  // A receipt acknowledges what came before as well.
  appended.ticket = last_ticket_ = std::max(last_ticket_, appended.ticket);
  return appended;
}

void ArchiveActor::acknowledge(const Archive::Appended& appended, const FrameBatch& frames,
                               const std::shared_ptr<Window>& window,
                               std::function<void(bool)> tell) {
  if (options_.acknowledges == ArchiveAcknowledges::taken || appended.ticket <= done_)
    return tell(true);
  Waiting waiting{appended.ticket, window, frames.size(), frames.pinned_bytes(), std::move(tell)};
  window->frames += waiting.frames;
  window->bytes += waiting.bytes;
  waiting_.push_back(std::move(waiting));
  if (2 * window->frames >= window->capacity.frames || 2 * window->bytes >= window->capacity.bytes)
    archive_->commit();
}

void ArchiveActor::note_outcomes() {
  mailbox_->take(outcomes_);
  for (const ArchiveOutcome& outcome : outcomes_)
    note_outcome(outcome);
}

void ArchiveActor::note_outcome(const ArchiveOutcome& outcome) {
  done_ = std::max(done_, outcome.ticket);
  while (!waiting_.empty() && waiting_.front().ticket <= done_) {
    const Waiting waiting = std::move(waiting_.front());
    waiting_.pop_front();
    if (waiting.window) {
      waiting.window->frames -= waiting.frames;
      waiting.window->bytes -= waiting.bytes;
    }
    waiting.tell(outcome.stored);
  }
}

caf::result<std::uint64_t> ArchiveActor::flush() {
  auto promise = make_response_promise<std::uint64_t>();
  auto answer = [this, promise](bool) mutable { promise.deliver(archive_->last_durable().value); };
  const std::uint64_t ticket = archive_->commit();
  if (ticket <= done_)
    answer(true);
  else
    waiting_.push_back({ticket, nullptr, 0, 0, std::move(answer)});
  return promise;
}

ArchiveStatus ArchiveActor::status() const {
  ArchiveStatus status{.ledger = archive_->ledger(),
                       .last_durable = archive_->last_durable().value,
                       .malformed_frames = malformed_,
                       .trouble = {}};
  if (const auto trouble = archive_->trouble())
    status.trouble = trouble->message;
  return status;
}

std::expected<caf::actor, ArchiveError> spawn_archive(caf::actor_system& system,
                                                      const std::filesystem::path& directory,
                                                      ArchiveActorOptions options) {
  const auto mailbox = std::make_shared<ArchiveMailbox>();
  const std::string name = "the archive " + directory.string();
  const std::string resumed = name + " stores what it is given again";
  const auto log_error = [](const ArchiveError& error) {
    log_message(LogSeverity::error, error.message);
  };
  options.archive.events = {
      .committed = [mailbox](std::uint64_t ticket) { mailbox->put({ticket, true}); },
      .failed = [mailbox](std::uint64_t ticket) { mailbox->put({ticket, false}); },
      .suspended = log_error,
      .resumed = [resumed] { log_message(LogSeverity::info, resumed); },
      .stopped = log_error};
  auto archive = Archive::open(directory, options.archive);
  if (!archive)
    return std::unexpected(std::move(archive.error()));
  const ArchiveRecovery& recovery = (*archive)->recovery();
  for (const ArchiveError& hole : recovery.holes)
    log_message(LogSeverity::error, (std::ostringstream() << hole).str());
  if (recovery.torn_bytes > 0)
    log_message(LogSeverity::warning, name + " had " + std::to_string(recovery.torn_bytes) +
                                          " bytes at its end that were never acknowledged");
  const compat::ThreadLogger thread(system);
  return system.spawn<ArchiveActor, caf::detached>(std::move(*archive), mailbox,
                                                   std::move(options));
}

} // namespace datastream
