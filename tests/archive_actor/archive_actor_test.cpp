#include "actor_test.hpp"
#include "disk_gate.hpp"
#include "forwarded_files.hpp"
#include "replaced_log_sink.hpp"
#include "shortage.hpp"
#include "submitting.hpp"
#include "temporary_directory.hpp"
#include "under_tsan.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/actors/fanout_actor.hpp>
#include <datastream/archive/archive_reader.hpp>
#include <datastream/archive_actor/archive_actor.hpp>
#include <datastream/log_sink.hpp>

#include <caf/scoped_actor.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

constexpr auto manual = EndpointOptions::manual;

struct ArchiveSystem {
  ArchiveSystem() : config(2) { compat::load<caf::id_block::datastream_archive>(config); }
  Config config;
  caf::actor_system system{config};
};

caf::actor spawned(caf::actor_system& system, const std::filesystem::path& directory,
                   ArchiveActorOptions options = {}) {
  auto archive = spawn_archive(system, directory, std::move(options));
  if (!archive)
    FAIL(archive.error());
  return *archive;
}

/// Stops an actor and waits until it is gone.
void finish(caf::actor_system& system, const caf::actor& actor) {
  const compat::ThreadLogger thread(system);
  caf::scoped_actor self{system};
  self->send_exit(actor, caf::exit_reason::user_shutdown);
  self->wait_for(actor);
}

ArchiveStatus status(ArchiveSystem& test, const caf::actor& archive) {
  return ask<ArchiveStatus>(test.system, archive, ledger_atom_v).value();
}

/// Files that are not synced any more, once a test says so.
class NoSync : public ForwardedFiles {
public:
  std::atomic<bool> refuses{false};

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    auto file = ForwardedFiles::open(path, mode);
    if (!file)
      return file;
    return std::make_unique<UnsyncedFile>(*this, path, std::move(*file));
  }

private:
  class UnsyncedFile : public ForwardedFile {
  public:
    UnsyncedFile(NoSync& files, std::filesystem::path path, std::unique_ptr<File> file)
        : ForwardedFile(std::move(file)), files_(files), path_(std::move(path)) {}
    FileResult<void> sync() override {
      if (files_.refuses)
        return std::unexpected(
            FileError{std::make_error_code(std::errc::io_error), "fsync", path_});
      return ForwardedFile::sync();
    }

  private:
    NoSync& files_;
    std::filesystem::path path_;
  };
};

#if !DATASTREAM_UNDER_TSAN

/// Files of an archive whose thread lacks memory once, as soon as it has told readers of the next
/// group: what it does then is to tell its actor.
class ShortAfterTip : public ForwardedFiles {
public:
  void begin() { next_ = true; }
  /// Did an allocation fail?
  bool happened() const { return happened_; }

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    auto file = ForwardedFiles::open(path, mode);
    if (file && mode != Mode::read && path.filename() == "tip")
      return std::make_unique<Tip>(*this, std::move(*file));
    return file;
  }

private:
  class Tip : public ForwardedFile {
  public:
    Tip(ShortAfterTip& files, std::unique_ptr<File> file)
        : ForwardedFile(std::move(file)), files_(files) {}
    ~Tip() override { files_.happened_ = Shortage::happened(); }
    FileResult<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
      auto written = ForwardedFile::write(offset, parts);
      if (files_.next_.exchange(false))
        shortage_.emplace(0);
      return written;
    }

  private:
    ShortAfterTip& files_;
    std::optional<Shortage> shortage_;
  };

  std::atomic<bool> next_{false};
  std::atomic<bool> happened_{false};
};

#endif

/// What is in an archive: payloads by stream and position.
std::map<StreamId, std::map<std::uint64_t, std::string>>
contents(const std::filesystem::path& directory) {
  std::map<StreamId, std::map<std::uint64_t, std::string>> found;
  auto reader = ArchiveReader::open(directory);
  REQUIRE(reader);
  auto cursor = reader->read_from({0});
  REQUIRE(cursor);
  while (true) {
    const auto batch = cursor->next();
    if (!batch)
      FAIL(batch.error());
    if (!*batch)
      return found;
    for (const FrameView& frame : (*batch)->frames)
      found[(*batch)->frames.stream()].emplace(frame.position.value, frame.payload);
  }
}

} // namespace

TEST_CASE("an_archive_follows_a_stream_and_keeps_it_whole_with_its_names") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  const auto archive = spawned(test.system, directory.path());
  Endpoint node{test.system, {.node = "n"}};
  REQUIRE(ask<SubscriptionStart>(test.system, archive, follow_atom_v, node.ref().actor()));
  const auto out = node.producer();
  const auto log = out.register_channel("a.log", TextStream{});
  for (int i = 0; i < 1000; ++i)
    REQUIRE(out.submit_text(log, std::to_string(i)));
  CHECK(node.close());
  CHECK(ask<std::uint64_t>(test.system, archive, flush_atom_v).value() == 1000);
  const ArchiveStatus now = status(test, archive);
  CHECK(now.ledger.stored == 1000);
  CHECK(now.ledger.balanced());
  CHECK(now.last_durable == 1000);
  CHECK(now.trouble.empty());
  finish(test.system, archive);
  const auto found = contents(directory.path());
  REQUIRE(found.at(node.stream_id()).size() == 1000);
  CHECK(found.at(node.stream_id()).at(999) == "999");
  auto reader = ArchiveReader::open(directory.path());
  CHECK((*reader->catalog())->find_channel(node.stream_id(), log)->name == "a.log");
}

TEST_CASE("archive_rule_10_archive_and_source_never_wait_for_each_other") {
  // Neither size nor time ever makes a group: only windows that are used up do.
  ArchiveSystem test;
  TemporaryDirectory directory;
  SubscriberCapacity capacity{64, 1U << 20U};
  SUBCASE("a window of frames") {}
  SUBCASE("a window of one frame") {
    capacity.frames = 1;
  }
  SUBCASE("a window of bytes") {
    capacity = {1U << 20U, 1000};
  }
  const auto archive = spawned(test.system, directory.path(),
                               {.archive = {.group_bytes = 1U << 30U, .group_delay = 24h},
                                .acknowledges = ArchiveAcknowledges::durable,
                                .subscribe = {.name = "archive", .capacity = capacity}});
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  REQUIRE(ask<SubscriptionStart>(test.system, archive, follow_atom_v, node.ref().actor()));
  const auto out = node.producer();
  std::uint64_t taken = 0;
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 40; ++j)
      REQUIRE(out.submit_text(ChannelId{1}, std::to_string(i)));
    const auto tick = ask<EndpointTick>(test.system, node.ref().actor(), tick_atom_v);
    REQUIRE(tick);
    taken += tick->delivered;
  }
  // What was not dropped arrives, however often the window was full.
  CHECK(eventually([&] { return status(test, archive).ledger.offered == taken; }));
  CHECK(eventually([&] { return 2 * outstanding(node.ledger()) < capacity.frames + 1; }));
  CHECK(taken > 10);
  finish(test.system, archive);
  CHECK(contents(directory.path()).at(node.stream_id()).size() == taken);
}

TEST_CASE("what_is_acknowledged_as_durable_is_durable") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  DiskGate disk;
  const auto archive = spawned(test.system, directory.path(),
                               {.archive = {.group_delay = 0ms, .files = &disk},
                                .acknowledges = ArchiveAcknowledges::durable});
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  REQUIRE(ask<SubscriptionStart>(test.system, archive, follow_atom_v, node.ref().actor()));
  disk.close();
  const auto out = node.producer();
  const auto log = out.register_channel("a.log", TextStream{});
  REQUIRE(out.submit_text(log, "one"));
  REQUIRE(ask<EndpointTick>(test.system, node.ref().actor(), tick_atom_v));
  CHECK(eventually([&] { return disk.busy(); }));
  // Neither a delivery without frames, nor one of which all is known, acknowledges it.
  out.register_channel("another", TextStream{});
  REQUIRE(ask<EndpointTick>(test.system, node.ref().actor(), tick_atom_v));
  CHECK(status(test, archive).ledger.pending == 1);
  CHECK(outstanding(node.ledger()) == 1);
  disk.open();
  CHECK(eventually([&] { return outstanding(node.ledger()) == 0; }));
  CHECK(status(test, archive).ledger.stored == 1);
  finish(test.system, archive);
}

TEST_CASE("what_is_not_stored_is_not_said_to_be_delivered") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  DiskGate disk;
  const auto archive =
      spawned(test.system, directory.path(),
              {.archive = {.group_delay = 0ms, .retry_interval = 1ms, .files = &disk},
               .acknowledges = ArchiveAcknowledges::durable});
  const StreamId stream{"n", {1}};
  const auto publish = [&](std::uint64_t position) {
    EventBatch batch;
    batch.frames = FrameBatch::copy_of(stream, std::vector<Frame>{{ChannelId{1}, {position}, "x"}});
    return ask<EndpointTick>(test.system, archive, publish_atom_v, batch).value();
  };
  CHECK(publish(0).delivered == 1);
  disk.set_full(true);
  const EndpointTick lost = publish(1); // is taken, and then cannot be written
  CHECK(lost.delivered == 0);
  CHECK(lost.dropped_for_subscribers == 1);
  CHECK(status(test, archive).ledger.not_stored.suspended == 1);
  EventBatch end; // waits for room itself, and lets nobody else wait for it
  end.ended = StreamEnd{stream, 2};
  CHECK(ask<EndpointTick>(test.system, archive, publish_atom_v, end));
  CHECK(publish(1).dropped_for_subscribers == 1);
  disk.set_full(false);
  CHECK(eventually([&] { return status(test, archive).trouble.empty(); }));
  CHECK(publish(1).delivered == 1);
  finish(test.system, archive);
  CHECK(contents(directory.path()).at(stream).size() == 2);
}

TEST_CASE("an_archive_knows_what_was_lost_on_the_way_to_it_also_before_and_after_its_frames") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  DiskGate disk;
  // A window of four frames, and nothing is acknowledged while the disk stands still.
  const auto archive = spawned(test.system, directory.path(),
                               {.archive = {.group_delay = 0ms, .files = &disk},
                                .acknowledges = ArchiveAcknowledges::durable,
                                .subscribe = {.name = "archive", .capacity = {4, 1U << 20U}}});
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  REQUIRE(ask<SubscriptionStart>(test.system, archive, follow_atom_v, node.ref().actor()));
  disk.close();
  const auto out = node.producer();
  for (int i = 0; i < 20; ++i) {
    REQUIRE(out.submit_text(ChannelId{1}, "x"));
    REQUIRE(ask<EndpointTick>(test.system, node.ref().actor(), tick_atom_v));
  }
  const std::uint64_t dropped = node.ledger().fanout.subscribers.front().counts.dropped;
  disk.open();
  CHECK(node.close());
  finish(test.system, archive);
  CHECK(dropped > 0);
  auto reader = ArchiveReader::open(directory.path());
  REQUIRE(reader);
  const auto streams = reader->streams();
  REQUIRE(streams);
  const auto info = std::ranges::find(*streams, node.stream_id(), &ArchivedStreamInfo::stream);
  REQUIRE(info != streams->end());
  CHECK(info->from == Position{0});
  CHECK(info->assigned == 20);
  CHECK(info->frames == 20 - dropped);
  CHECK(info->missing() == dropped);
}

TEST_CASE("a_disk_that_stands_still_costs_producers_and_other_readers_nothing") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  DiskGate disk;
  const auto archive = spawned(test.system, directory.path(),
                               {.archive = {.group_bytes = 10'000, .files = &disk},
                                .subscribe = {.name = "archive", .capacity = {256, 1U << 20U}}});
  Endpoint node{test.system, {.node = "n"}};
  REQUIRE(ask<SubscriptionStart>(test.system, archive, follow_atom_v, node.ref().actor()));
  const auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, node.ref(), seen);
  CHECK(eventually([&] { return seen->has_started(); }));
  disk.close();
  Submitting submitting(node.producer());
  CHECK(eventually([&] { return seen->frames() > 20'000; }));
  submitting.stop();
  const PipeLedger ledger = node.ledger();
  const auto& of_archive = ledger.fanout.subscribers.at(0);
  CHECK(of_archive.name == "archive");
  CHECK(of_archive.counts.dropped > 0);
  CHECK(of_archive.counts.outstanding <= 256);
  disk.open();
  node.close();
  REQUIRE(ask<std::uint64_t>(test.system, archive, flush_atom_v));
  const PipeLedger after = node.ledger();
  CHECK(status(test, archive).ledger.stored ==
        after.fanout.departed.acknowledged + after.fanout.departed.abandoned - seen->frames());
  finish(test.system, archive);
  stop(reader);
}

TEST_CASE("a_consumer_that_was_given_an_archive_stores_in_both_and_outlives_it") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  std::atomic<int> logged{0};
  const ReplacedLogSink sink([&](LogSeverity, std::string_view) { ++logged; });
  const auto archive =
      spawned(test.system, directory.path(), {.acknowledges = ArchiveAcknowledges::durable});
  const auto consumer = spawn_consumer(test.system, {.archive = archive});
  Endpoint node{test.system, {.node = "n"}};
  REQUIRE(ask<SubscriptionStart>(test.system, consumer, follow_atom_v, node.ref().actor()));
  const auto out = node.producer();
  const auto log = out.register_channel("a.log", TextStream{});
  for (int i = 0; i < 500; ++i)
    REQUIRE(out.submit_text(log, std::to_string(i)));
  // Acknowledged by the consumer means durable, too.
  CHECK(eventually([&] {
    const PipeLedger ledger = node.ledger();
    return ledger.fanout.subscribers.at(0).counts.acknowledged == 500;
  }));
  CHECK(status(test, archive).ledger.stored == 500);
  finish(test.system, archive);
  for (int i = 0; i < 500; ++i)
    REQUIRE(out.submit_text(log, std::to_string(i)));
  CHECK(node.close());
  CHECK(logged == 1);
  const auto ledger = ask<IngestLedger>(test.system, consumer, ledger_atom_v, node.stream_id());
  REQUIRE(ledger);
  CHECK(ledger->stored == 1000);
  CHECK(contents(directory.path()).at(node.stream_id()).size() == 500);
  stop(consumer);
}

TEST_CASE("an_archive_that_cannot_store_what_it_has_while_it_is_closed_says_so_once") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  std::mutex mutex;
  std::vector<std::string> logged;
  const ReplacedLogSink sink([&](LogSeverity severity, std::string_view message) {
    const std::lock_guard lock(mutex);
    if (severity == LogSeverity::error && message.starts_with("an archive was closed in trouble"))
      logged.emplace_back(message);
  });
  NoSync files;
  // Nothing is committed before the end.
  const auto archive = spawned(test.system, directory.path(),
                               {.archive = {.group_delay = 24h, .files = &files},
                                .acknowledges = ArchiveAcknowledges::durable});
  Endpoint node{test.system, {.node = "n"}};
  REQUIRE(ask<SubscriptionStart>(test.system, archive, follow_atom_v, node.ref().actor()));
  REQUIRE(node.producer().submit_text(ChannelId{1}, "one"));
  REQUIRE(eventually([&] { return status(test, archive).ledger.pending == 1; }));
  files.refuses = true;
  finish(test.system, archive);
  REQUIRE(logged.size() == 1);
  CHECK(logged[0].find("fsync") != std::string::npos);
  CHECK(logged[0].find(directory.path().string()) != std::string::npos);
  files.refuses = false;
  finish(test.system, spawned(test.system, directory.path(), {.archive = {.files = &files}}));
}

TEST_CASE("many_streams_of_many_sources_share_an_archive") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  const auto archive = spawned(
      test.system, directory.path(),
      {.archive = {.segment_bytes = 64U << 10U}, .acknowledges = ArchiveAcknowledges::durable});
  std::vector<std::unique_ptr<Endpoint>> nodes;
  for (int i = 0; i < 5; ++i) {
    nodes.push_back(
        std::make_unique<Endpoint>(test.system, EndpointOptions{.node = "n" + std::to_string(i)}));
    REQUIRE(
        ask<SubscriptionStart>(test.system, archive, follow_atom_v, nodes.back()->ref().actor()));
  }
  for (const auto& node : nodes) {
    const auto out = node->producer();
    const auto log = out.register_channel("a.log", TextStream{});
    for (int i = 0; i < 2000; ++i)
      REQUIRE(out.submit_text(log, std::to_string(i)));
  }
  for (const auto& node : nodes)
    CHECK(node->close());
  CHECK(status(test, archive).ledger.stored == 10'000);
  finish(test.system, archive);
  const auto found = contents(directory.path());
  REQUIRE(found.size() == 5);
  for (const auto& [stream, frames] : found) {
    REQUIRE(frames.size() == 2000);
    CHECK(frames.at(1999) == "1999");
  }
}

#if !DATASTREAM_UNDER_TSAN

TEST_CASE("what_became_of_frames_arrives_also_where_there_is_no_memory_to_tell_it") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  ShortAfterTip files;
  const auto archive = spawned(test.system, directory.path(),
                               {.archive = {.group_delay = 0ms, .files = &files},
                                .acknowledges = ArchiveAcknowledges::durable});
  files.begin();
  EventBatch batch;
  batch.frames = FrameBatch::copy_of({"n", {1}}, std::vector<Frame>{{ChannelId{1}, {0}, "x"}});
  const auto told = ask<EndpointTick>(test.system, archive, publish_atom_v, batch);
  REQUIRE(told);
  CHECK(told->delivered == 1);
  finish(test.system, archive);
  CHECK(files.happened());
}

#endif

TEST_CASE("an_archive_that_cannot_be_opened_is_an_error_and_no_actor") {
  ArchiveSystem test;
  TemporaryDirectory directory;
  const auto first = spawned(test.system, directory.path());
  const auto second = spawn_archive(test.system, directory.path());
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == ArchiveError::Kind::locked);
  finish(test.system, first);
  const auto third = spawned(test.system, directory.path());
  finish(test.system, third);
}
