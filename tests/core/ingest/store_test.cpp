#include <datastream/ingest/store.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

using namespace datastream;

namespace {

std::vector<StreamId> ids_of(const Store& store) {
  std::vector<StreamId> ids;
  std::ranges::copy(store.stream_ids(), std::back_inserter(ids));
  return ids;
}

} // namespace

TEST_CASE("streams_are_ordered_by_node_and_life") {
  Store store;
  for (const StreamId& id : {StreamId{"b", {1}}, StreamId{"a", {10}}, StreamId{"a", {9}}})
    CHECK(store.open(id).id() == id);
  CHECK(ids_of(store) == std::vector<StreamId>{{"a", {9}}, {"a", {10}}, {"b", {1}}});
  std::vector<StreamId> iterated;
  for (const StoredStream& stream : std::as_const(store))
    iterated.push_back(stream.id());
  CHECK(iterated == ids_of(store));
  CHECK(store.size() == 3);
}

TEST_CASE("a_stream_is_created_when_opened_and_not_when_looked_for") {
  Store store;
  CHECK(store.empty());
  CHECK(store.find({"a", {1}}) == nullptr);
  CHECK(store.empty());
  StoredStream& opened = store.open({"a", {1}});
  CHECK(opened.empty());
  CHECK(&store.open({"a", {1}}) == &opened);
  CHECK(&store.open({"a", {2}}) != &opened);
  CHECK(&store.open({"a", {1}}) == &opened);
  CHECK(store.find({"a", {1}}) == &opened);
  CHECK(std::as_const(store).find({"a", {1}}) == &opened);
}

TEST_CASE("every_stream_has_the_retention_of_its_store") {
  Store store{{.frames = 5, .bytes = 7}};
  CHECK(store.open({"a", {1}}).retention() == Retention{.frames = 5, .bytes = 7});
}

TEST_CASE("streams_stay_where_they_are_when_their_store_is_moved") {
  Store from;
  StoredStream* const stream = &from.open({"a", {1}});
  stream->accept(FrameView{{1}, {0}, "x", {}});
  Store to = std::move(from);
  CHECK(&to.open({"a", {1}}) == stream);
  Store assigned;
  assigned.open({"gone", {1}});
  assigned = std::move(to);
  CHECK(&assigned.open({"a", {1}}) == stream);
  CHECK(assigned.find({"gone", {1}}) == nullptr);
  CHECK(stream->at({0})->payload == "x");
}

TEST_CASE("a_stream_of_which_only_the_start_is_known_is_not_opened_for_it") {
  Store store;
  const StreamId id{"a", {1}};
  store.expect_from(id, {7});
  store.expect_from(id, {5});
  store.expect_from(id, {9});
  CHECK(store.empty());
  Store moved = std::move(store);
  moved.open(id).accept(FrameView{{1}, {8}, "x", {}});
  CHECK(moved.find(id)->ledger().from == Position{5});
  CHECK(moved.find(id)->ledger().leading() == 3);
  moved.expect_from(id, {2});
  CHECK(moved.find(id)->ledger().from == Position{2});
}

TEST_CASE("what_is_forgotten_stays_in_the_sums") {
  Store store{{.frames = 2}};
  const auto put = [&](const StreamId& id, std::uint64_t position, std::string_view payload) {
    store.open(id).accept(FrameView{{1}, {position}, payload, {}});
  };
  for (const std::uint64_t life : {1U, 2U}) {
    const StreamId id{"a", {life}};
    store.expect_from(id, {1});
    for (const std::uint64_t position : {2U, 4U, 5U})
      put(id, position, "x");
    put(id, 5, "x");
    put(id, 5, "other");
    put(id, 1, "late");
    store.open(id).expect_until(9);
  }
  const IngestLedger ledger = store.find({"a", {1}})->ledger();
  CHECK(store.forget(store.find({"a", {1}})->id()));
  CHECK(store.find({"a", {1}}) == nullptr);
  CHECK(store.forgotten() == ForgottenLedger{.streams = 1,
                                             .arrived = 6,
                                             .stored = 3,
                                             .duplicates = 1,
                                             .conflicts = 1,
                                             .late_for_evicted = 1,
                                             .evicted = 1,
                                             .missing = ledger.missing()});
  CHECK(ledger.missing() == 1 + 1 + 3);
  CHECK(store.forgotten().balanced());
  CHECK(store.forget({"a", {2}}));
  CHECK(store.forgotten().arrived == 12);
  CHECK(store.empty());
  CHECK_FALSE(store.forget({"a", {2}}));
  store.expect_from({"b", {1}}, {1});
  CHECK(store.forget({"b", {1}}));
  CHECK(store.open({"b", {1}}).ledger().from == std::nullopt);
  CHECK(store.forgotten().streams == 2);
  const Store moved = std::move(store);
  CHECK(moved.forgotten().arrived == 12);
}

TEST_CASE("a_frame_of_a_forgotten_stream_opens_it_anew") {
  Store store;
  const StreamId id{"a", {1}};
  const auto put = [&] { return store.open(id).accept(FrameView{{1}, {3}, "x", {}}); };
  CHECK(put() == StoredStream::Accepted::stored);
  CHECK(put() == StoredStream::Accepted::duplicate);
  CHECK(store.forget(id));
  CHECK(put() == StoredStream::Accepted::stored);
  CHECK(store.forgotten().arrived + store.find(id)->ledger().arrived == 3);
}
