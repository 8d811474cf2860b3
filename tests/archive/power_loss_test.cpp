#include "power_loss.hpp"

#include <cstdlib>
#include <random>

using namespace datastream;
using namespace datastream::test;

namespace {

const StreamId node_a{"node-a", {7}};
const StreamId node_b{"node-b", {8}};
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
  run.append(node_a, frames(0, 20));
  run.append(node_b, frames(100, 5));
  run.flush();
  run.append(node_a, frames(10, 20)); // half of it known
  run.append(node_b, frames(0, 5, 2, 700));
  run.append(node_a, frames(30, 3));
  run.flush();
  run.declare(channel_declaration(node_b, 2, "two"));
  run.flush(); // nothing but that
  for (std::uint64_t first = 200; first < 260; first += 20) {
    run.append(node_b, frames(first, 20));
    run.append(node_a, frames(first, 5, 3));
    run.flush();
  }
  run.append(node_c, frames(8190, 4)); // over two pages of positions
  run.close();

  run.open();
  run.append(node_c, frames(8180, 20, 1, 100));
  run.declare(channel_declaration(node_c, 1, "of c"));
  run.append(node_a, frames(0, 10));
  run.flush();
  run.append(node_a, frames(1000, 40));
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
  CHECK(states > run.events().size() / 2);
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
