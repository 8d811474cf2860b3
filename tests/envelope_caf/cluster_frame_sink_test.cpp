/// The older emitter, shipping to a sink.

#include "sink_test.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/envelope_caf/cluster_frame_sink.hpp>

using namespace datastream;
using namespace datastream::test;

TEST_CASE("an_emitter_s_frames_reach_a_sink_once_it_is_set_and_are_dropped_and_counted_before") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  const auto sink = spawn_sink(test.system, {.into = consumer}).value();
  const auto cluster = std::make_shared<ClusterFrameSink>();
  DatastreamEmitter emitter({.node = "n", .life = {1}}, cluster);
  REQUIRE(emitter.submit_text({1}, "for nobody"));
  CHECK(emitter.tick() == 1);
  cluster->set_sink(sink);
  for (int i = 0; i < 3; ++i)
    REQUIRE(emitter.submit_text({1}, "text"));
  CHECK(emitter.tick() == 3);
  CHECK(cluster->sent() == 3);
  CHECK(cluster->dropped() == 1);
  REQUIRE(eventually([&] { return ledger_of(test.system, sink).delivered == 3; }));
  const auto ledger = ask<IngestLedger>(test.system, consumer, ledger_atom_v, StreamId{"n", {1}});
  REQUIRE(ledger);
  CHECK(ledger->lowest_stored == Position{1});
  cluster->set_sink(nullptr);
  REQUIRE(emitter.submit_text({1}, "for nobody"));
  emitter.tick();
  CHECK(cluster->dropped() == 2);
  stop(consumer);
}

TEST_CASE("a_node_that_is_no_text_is_not_shipped") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  ClusterFrameSink cluster(spawn_sink(test.system, {.into = consumer}).value());
  cluster.ship({"\xff", {1}}, {{1}, {0}, "x", {}});
  CHECK(cluster.dropped() == 1);
  CHECK(cluster.sent() == 0);
  stop(consumer);
}
