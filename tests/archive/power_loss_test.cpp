#include "power_loss.hpp"

#include <cstdlib>
#include <random>
#include <set>

using namespace datastream;
using namespace datastream::test;

namespace {

const StreamId node_c{"node-c", {1}};

/// Payloads that cannot be compressed, so that blocks have more than one sector.
std::vector<Frame> frames(std::uint64_t first, std::size_t count, std::uint32_t channel = 1,
                          std::size_t payload_bytes = 40) {
  std::vector<Frame> made;
  for (std::uint64_t position = first; position < first + count; ++position) {
    std::mt19937_64 random(position * 31 + channel);
    std::string payload(payload_bytes, '\0');
    for (char& byte : payload)
      byte = static_cast<char>(random());
    made.push_back({{channel}, {position}, std::move(payload)});
  }
  return made;
}

/// Several streams and lives, out of order and more than once, over several segments.
void run_script(RecordedRun& run) {
  run.open();
  run.declare(stream_declaration(node_a));
  run.declare(channel_declaration(node_a, 1, "one"));
  run.begin({node_a, {0}});
  run.append(node_a, frames(0, 20));
  run.begin({node_b, {60}});
  run.append(node_b, frames(100, 5));
  run.flush();
  run.append(node_a, frames(10, 20)); // half of it known
  run.append(node_b, frames(0, 5, 2, 700));
  run.append(node_a, frames(30, 3));
  run.flush();
  run.declare(channel_declaration(node_b, 2, "two"));
  run.flush();              // nothing but that
  run.begin({node_b, {0}}); // which was known to begin later
  run.flush();              // nor here
  for (std::uint64_t first = 200; first < 260; first += 20) {
    run.append(node_b, frames(first, 20));
    run.append(node_a, frames(first, 5, 3));
    run.flush();
  }
  run.append(node_c, frames(8190, 4)); // over two pages of positions
  run.end({node_b, 300});
  run.flush();
  run.end({node_a, 50});
  run.close();

  run.open();
  run.begin({node_c, {8180}});
  run.append(node_c, frames(8180, 20, 1, 100));
  run.declare(channel_declaration(node_c, 1, "of c"));
  run.append(node_a, frames(0, 10));
  run.flush();
  run.append(node_a, frames(1000, 40));
  run.end({node_a, 1040}); // it went on after all
  run.close();
  run.open();
  run.close();
  run.open();
  run.append(node_b, frames(10'000, 30, 9, 60));
  run.flush();
  run.append(node_a, frames(2000, 1));
  run.flush();
  run.close();
}

/// What comes after a crash: something else than would have come without it.
void go_on(RecordedRun& run) {
  run.open();
  run.append(node_c, frames(0, 5));
  run.declare(channel_declaration(node_c, 7, "seven"));
  run.begin({node_c, {0}});
  run.end({node_c, 8200});
  run.flush();
  run.close();
}

ArchiveOptions small_segments(MetadataSync sync = MetadataSync::at_seal) {
  return {.segment_bytes = 3000, .metadata_sync = sync};
}

/// More of what is drawn, for whoever has time: DATASTREAM_POWER_CUTS=50.
std::size_t draws(std::size_t usual) {
  const char* more = std::getenv("DATASTREAM_POWER_CUTS");
  return more ? std::strtoul(more, nullptr, 10) : usual;
}

/// Looks at every state until ten are wrong.
void check_all(const RecordedRun& run, const CutOptions& options) {
  std::size_t faults = 0;
  const std::size_t states = for_each_cut(run, options, [&](const CutState& state) {
    if (const auto fault = fault_in(state, run)) {
      FAIL_CHECK(state << ": " << *fault);
      ++faults;
    }
    return faults < 10;
  });
  MESSAGE(run.events().size(), " events, ", states, " states");
  CHECK(states > (run.events().size() - run.earlier_events()) / 2);
}

/// What the archive would have told the disk had it done something wrong.
template <class Rewrite>
std::deque<DiskEvent> rewritten(const RecordedRun& run, Rewrite rewrite) {
  std::deque<DiskEvent> events;
  for (const DiskEvent& event : run.events())
    rewrite(events, event);
  return events;
}

/// Finds the syncs of what a segment has, but for that of its header, which makes it a segment.
class SegmentSyncs {
public:
  bool is(const DiskEvent& event) {
    return !event.committed && event.operation.is(FileOperation::Kind::sync) &&
           event.operation.of_segment() && !with_header_.insert(event.operation.file).second;
  }

private:
  std::set<std::uint64_t> with_header_;
};

bool writes_tip(const DiskEvent& event) {
  return !event.committed && event.operation.is(FileOperation::Kind::write) &&
         event.operation.of_tip();
}

/// The first fault that power cuts show.
std::optional<std::string> first_fault(const RecordedRun& run,
                                       const std::deque<DiskEvent>& events) {
  std::optional<std::string> fault;
  for_each_cut(run, events, {.survivals = plain_survivals()}, [&](const CutState& state) {
    fault = fault_in(state, run);
    return !fault;
  });
  if (fault)
    MESSAGE(*fault);
  return fault;
}

} // namespace

TEST_CASE("a_power_cut_that_leaves_all_or_nothing_loses_nothing_that_was_acknowledged") {
  RecordedRun run(small_segments());
  run_script(run);
  check_all(run, {.survivals = plain_survivals()});
}

TEST_CASE("a_power_cut_that_tears_writes_and_names_loses_nothing_that_was_acknowledged") {
  RecordedRun run(small_segments());
  run_script(run);
  check_all(run, {.survivals = random_survivals(), .draws = draws(1)});
}

TEST_CASE("a_power_cut_that_takes_the_index_loses_nothing_that_was_acknowledged") {
  RecordedRun run(small_segments());
  run_script(run);
  check_all(run, {.survivals = survivals_without_index(), .draws = draws(1)});
}

TEST_CASE("a_power_cut_loses_nothing_where_the_index_is_synced_with_every_commit") {
  RecordedRun run(small_segments(MetadataSync::every_commit));
  run_script(run);
  std::vector<NamedSurvival> survivals = plain_survivals();
  for (NamedSurvival& survival : random_survivals())
    survivals.push_back(survival);
  check_all(run, {.survivals = survivals, .draws = draws(1)});
}

TEST_CASE("a_power_cut_during_the_recovery_from_another_loses_nothing") {
  RecordedRun run(small_segments());
  run_script(run);
  std::size_t states = 0;
  std::size_t second_states = 0;
  std::vector<NamedSurvival> firsts = random_survivals();
  for_each_cut(run, {.survivals = firsts}, [&](const CutState& first) {
    if (states++ % 40 != 0)
      return true;
    CAPTURE(first);
    RecordedRun second(
        small_segments(),
        {first.image, {}, run.stored(), run.declared(), run.reaches(), first.promised});
    go_on(second);
    second_states +=
        for_each_cut(second, {.survivals = random_survivals()}, [&](const auto& state) {
          const auto fault = fault_in(state, second);
          if (fault)
            FAIL_CHECK(state << ": " << *fault);
          return !fault;
        });
    return true;
  });
  MESSAGE(second_states, " states");
  CHECK(second_states > 500);
}

TEST_CASE("a_power_cut_during_the_recovery_from_a_kill_loses_nothing") {
  // After a kill the system still has what was not synced, and recovery finds it.
  RecordedRun run(small_segments());
  run_script(run);
  std::size_t states = 0;
  std::size_t moments = 0;
  const std::vector<NamedSurvival> whole = {{"everything", {}}};
  for_each_cut(run, {.survivals = whole}, [&](const CutState& killed) {
    if (moments++ % 12 != 0)
      return true;
    CAPTURE(killed);
    const std::deque<DiskEvent> events(run.events().begin(), run.events().begin() + killed.event);
    RecordedRun second(small_segments(), {run.durable(), events, run.stored(), run.declared(),
                                          run.reaches(), killed.promised});
    go_on(second);
    states += for_each_cut(second, {.survivals = random_survivals()}, [&](const auto& state) {
      const auto fault = fault_in(state, second);
      if (fault)
        FAIL_CHECK(state << ": " << *fault);
      return !fault;
    });
    return true;
  });
  MESSAGE(states, " states");
  CHECK(states > 500);
}

TEST_CASE("what_recovery_adopts_is_durable_before_the_index_knows_of_it") {
  // More positions than the index takes in one step, all of which it lacks.
  RecordedRun run({});
  run.open();
  for (std::uint64_t page = 0; page < 1100; ++page)
    run.append(node_a, frames(page * 4096, 1, 1, 1));
  run.flush();
  run.close();
  std::size_t synced = 0; // how many events there were when all of that was in the segment
  SegmentSyncs segment_syncs;
  while (!segment_syncs.is(run.events()[synced]))
    ++synced;
  const std::deque<DiskEvent> events(run.events().begin(), run.events().begin() + synced);
  RecordedRun second({}, {run.durable(), events, run.stored(), {}, {}, {}});
  second.open();
  second.close();
  REQUIRE(second.stored().size() == 1100);
  check_all(second, {.survivals = plain_survivals()});
}

TEST_CASE("power_cuts_show_segments_that_are_not_synced") {
  RecordedRun run(small_segments());
  run_script(run);
  SegmentSyncs segment_syncs;
  CHECK(first_fault(run, rewritten(run, [&](auto& events, const DiskEvent& event) {
                      if (!segment_syncs.is(event))
                        events.push_back(event);
                    })));
}

TEST_CASE("power_cuts_show_beginnings_and_ends_that_are_acknowledged_before_they_are_synced") {
  RecordedRun run(small_segments());
  run.open();
  run.begin({node_a, {5}});
  run.end({node_b, 7});
  run.flush();
  run.close();
  SegmentSyncs segment_syncs;
  // No tip betrays it, and the index does not have them.
  const auto fault = first_fault(run, rewritten(run, [&](auto& events, const DiskEvent& event) {
                                   if (!segment_syncs.is(event) && !writes_tip(event) &&
                                       !event.operation.of_index())
                                     events.push_back(event);
                                 }));
  REQUIRE(fault);
  CHECK(fault->find("beginning or end") != std::string::npos);
}

TEST_CASE("power_cuts_show_a_tip_that_is_written_before_its_segment_is_synced") {
  RecordedRun run(small_segments());
  run_script(run);
  SegmentSyncs segment_syncs;
  std::deque<DiskEvent> held;
  CHECK(first_fault(run, rewritten(run, [&](auto& events, const DiskEvent& event) {
                      if (segment_syncs.is(event)) {
                        held.push_back(event);
                        return;
                      }
                      events.push_back(event);
                      if (writes_tip(event)) {
                        events.insert(events.end(), held.begin(), held.end());
                        held.clear();
                      }
                    })));
}

TEST_CASE("archive_rule_02_power_cuts_show_an_index_that_is_durable_before_its_segment") {
  RecordedRun run(small_segments());
  run_script(run);
  SegmentSyncs segment_syncs;
  std::deque<DiskEvent> held;
  // Nothing is promised, and no tip betrays it: only the index does.
  CHECK(first_fault(run, rewritten(run, [&](auto& events, const DiskEvent& event) {
                      if (event.committed || writes_tip(event))
                        return;
                      if (segment_syncs.is(event)) {
                        held.push_back(event);
                        return;
                      }
                      events.push_back(event);
                      if (event.operation.is(FileOperation::Kind::write) &&
                          event.operation.of_index()) {
                        DiskEvent synced = event;
                        synced.operation.kind = FileOperation::Kind::sync;
                        events.push_back(synced);
                        events.insert(events.end(), held.begin(), held.end());
                        held.clear();
                      }
                    })));
}

TEST_CASE("power_cuts_show_directories_that_are_not_synced") {
  RecordedRun run(small_segments());
  run_script(run);
  CHECK(first_fault(run, rewritten(run, [](auto& events, const DiskEvent& event) {
                      if (event.committed ||
                          !event.operation.is(FileOperation::Kind::sync_directory))
                        events.push_back(event);
                    })));
}
