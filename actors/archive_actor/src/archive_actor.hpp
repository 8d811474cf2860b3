#pragma once
/// The actor behind `spawn_archive`.

#include <datastream/actors/subscriber.hpp>
#include <datastream/archive/archive.hpp>
#include <datastream/archive_actor/archive_actor.hpp>

#include <caf/actor_addr.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/result.hpp>
#include <caf/typed_response_promise.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace datastream {

/// What became of the tickets behind the last outcome, up to this one.
struct ArchiveOutcome {
  std::uint64_t ticket = 0;
  bool stored = false;
};

/// Where an archive, whose thread knows no actors, reaches its actor. No outcome is lost for lack
/// of memory.
///
/// Thread safety: `put` for the archive's thread, everything else for the actor.
class ArchiveMailbox {
public:
  /// Changes between stored and not stored that wait for the actor without further memory.
  static constexpr std::size_t room = 64;

  ArchiveMailbox() { outcomes_.reserve(room); }

  void belong_to(const caf::actor& actor);
  /// Keeps what is still put, and sends nothing more.
  void leave() noexcept;
  /// Tells the actor that there is something. Where there is no memory to do so, waits until there
  /// is: it may be the last outcome for a long time.
  void put(const ArchiveOutcome& outcome);
  /// What was put since the last time, into a vector that has room for `room`.
  void take(std::vector<ArchiveOutcome>& outcomes) noexcept;

private:
  void keep(const ArchiveOutcome& outcome) noexcept;

  std::mutex mutex_;
  std::condition_variable left_;
  std::vector<ArchiveOutcome> outcomes_; ///< no two in a row with the same `stored`
  bool told_ = false;                    ///< the actor knows, and has not come yet
  bool has_actor_ = false;
  caf::actor_addr actor_; // weak: the actor owns the archive, and that has this
};

class ArchiveActor : public caf::event_based_actor {
public:
  ArchiveActor(caf::actor_config& config, std::unique_ptr<Archive> archive,
               std::shared_ptr<ArchiveMailbox> mailbox, ArchiveActorOptions options);

  const char* name() const override { return "datastream.archive"; }
  caf::behavior make_behavior() override;
  void on_exit() override; // may run twice: see `compat::exit_before_watchers`

private:
  /// What one source may have waiting before it loses frames.
  struct Window {
    SubscriberCapacity capacity;
    std::size_t frames = 0;
    std::size_t bytes = 0;
  };
  /// Somebody who is told when a ticket is done.
  struct Waiting {
    std::uint64_t ticket = 0;
    std::shared_ptr<Window> window;
    std::size_t frames = 0;
    std::size_t bytes = 0;
    std::function<void(bool stored)> tell;
  };

  caf::result<SubscriptionStart> follow(const caf::actor& endpoint);
  caf::result<EndpointTick> publish(const EventBatch& batch);
  EndpointTick publish(const SubscriptionStart& start);
  caf::result<std::uint64_t> flush();
  ArchiveStatus status() const;

  Archive::Appended take(const EventBatch& batch);
  /// Calls `tell` as soon as the archive acknowledges what was appended from this window.
  void acknowledge(const Archive::Appended& appended, const FrameBatch& frames,
                   const std::shared_ptr<Window>& window, std::function<void(bool)> tell);
  void note_outcomes();
  void note_outcome(const ArchiveOutcome& outcome);

  std::unique_ptr<Archive> archive_;
  std::shared_ptr<ArchiveMailbox> mailbox_;
  ArchiveActorOptions options_;
  Subscriber subscriber_;
  std::shared_ptr<Window> publishers_;   ///< of all who send `publish_atom`, as if they were one
  std::deque<Waiting> waiting_;          ///< by their tickets
  std::vector<ArchiveOutcome> outcomes_; ///< that were taken last
  std::uint64_t last_ticket_ = 0;        ///< of what was taken
  std::uint64_t done_ = 0;
  std::uint64_t malformed_ = 0;
};

} // namespace datastream
