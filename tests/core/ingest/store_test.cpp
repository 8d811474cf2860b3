#include <datastream/ingest/store.hpp>

#include <doctest/doctest.h>

#include <algorithm>
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
