#include <datastream/model/health.hpp>
#include <datastream/views/ledger.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <stream_of.hpp>

using namespace datastream;

namespace {

constexpr ChannelId health{1};

/// A ledger that balances, with every figure different.
PipeLedger example() {
  PipeLedger ledger;
  ledger.stream = {"node-a", {7}};
  ledger.refused = {2, 3, 5, 7, 11};
  ledger.in_mux = 13;
  ledger.assigned = 100;
  ledger.in_transit = 4;
  ledger.published = 66;
  ledger.bitbucketed = 20;
  ledger.drained_directly = 10;
  ledger.ended = true;
  ledger.fanout.subscribers = {{{4}, "tail", {70, 40, 17, 13, 0}}};
  ledger.fanout.departed = {60, 30, 10, 0, 20};
  ledger.fanout.stray_acknowledgements = 19;
  return ledger;
}

using Found = std::vector<ReportInconsistency>;

} // namespace

TEST_CASE("a_report_shows_every_figure_of_the_health_record") {
  REQUIRE(example().balanced());
  const StoredStream stream = stream_of({{health, {100}, encode_health(example())}});
  const StreamReport report = stream_report(stream, health);
  REQUIRE(report.reported);
  CHECK(report.reported->ledger == example());
  CHECK(report.reported->dropped == 28);
  CHECK(report.reported->position == Position{100});
  CHECK(report.reported->whole);
  CHECK(report.inconsistencies.empty());
  CHECK(report.ingest == stream.ledger());
}

TEST_CASE("a_report_takes_the_latest_health_record_that_decodes") {
  const StoredStream stream = stream_of({{health, {1}, R"({"assigned":1})"},
                                         {health, {5}, R"({"assigned":5})"},
                                         {health, {6}, R"({"assigned":-1})"},
                                         {health, {7}, "garbage"},
                                         {{2}, {8}, R"({"assigned":8})"}});
  const StreamReport report = stream_report(stream, health);
  REQUIRE(report.reported);
  CHECK(report.reported->position == Position{5});
  CHECK(report.reported->ledger.assigned == 5);
}

TEST_CASE("a_report_without_health_has_our_own_counts_only") {
  const StoredStream stream = stream_of({{{2}, {0}, "x"}, {{2}, {0}, "x"}});
  for (const auto channel : {std::optional<ChannelId>{}, std::optional<ChannelId>{health}}) {
    const StreamReport report = stream_report(stream, channel);
    CHECK_FALSE(report.reported);
    CHECK(report.ingest.arrived == 2);
    CHECK(report.ingest.duplicates == 1);
    CHECK(report.inconsistencies.empty());
  }
}

TEST_CASE("a_report_takes_the_short_health_record_of_other_peers_without_complaint") {
  const StoredStream stream =
      stream_of({{health, {9}, R"({"assigned":9,"dropped":3,"loss_rate_ppm":333333})"}});
  const StreamReport report = stream_report(stream, health);
  REQUIRE(report.reported);
  CHECK(report.reported->ledger.assigned == 9);
  CHECK(report.reported->dropped == 3);
  CHECK_FALSE(report.reported->whole);
  CHECK(report.inconsistencies.empty());
}

TEST_CASE("reported_sums_that_do_not_hold_are_noted_and_the_figures_still_shown") {
  PipeLedger wrong = example();
  wrong.published += 1;
  const StoredStream stream = stream_of({{health, {100}, encode_health(wrong)}});
  const StreamReport report = stream_report(stream, health);
  REQUIRE(report.reported);
  CHECK(report.reported->ledger.published == wrong.published);
  CHECK(report.inconsistencies == Found{ReportInconsistency::sums_differ});

  std::string text = encode_health(example());
  text.replace(text.find("\"dropped\":28"), 12, "\"dropped\":27");
  CHECK(stream_report(stream_of({{health, {100}, text}}), health).inconsistencies ==
        Found{ReportInconsistency::sums_differ});
}

TEST_CASE("a_record_that_counts_positions_beyond_its_own_is_noted") {
  const StoredStream stream = stream_of({{health, {99}, encode_health(example())}});
  CHECK(stream_report(stream, health).inconsistencies ==
        Found{ReportInconsistency::assigned_in_advance});
}

TEST_CASE("a_stream_that_ended_below_a_stored_position_is_noted") {
  StoredStream stream = stream_of({{{2}, {5}, "x"}});
  stream.expect_until(6);
  CHECK(stream_report(stream, health).inconsistencies.empty());
  stream.expect_until(5);
  CHECK(stream_report(stream, health).inconsistencies ==
        Found{ReportInconsistency::ended_too_early});
}

TEST_CASE("absurd_figures_of_a_peer_do_no_harm") {
  const StoredStream stream =
      stream_of({{health,
                  {3},
                  R"({"assigned":18446744073709551615,"submitted":1,"in_mux":18446744073709551615,)"
                  R"("published":2,"refused":{"mux_frames_full":18446744073709551615}})"}});
  const StreamReport report = stream_report(stream, health);
  REQUIRE(report.reported);
  CHECK(report.inconsistencies ==
        Found{ReportInconsistency::sums_differ, ReportInconsistency::assigned_in_advance});
}
