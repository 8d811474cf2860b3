#include <datastream/pipe/catalog.hpp>

#include <doctest/doctest.h>

using namespace datastream;

TEST_CASE("a_name_registered_twice_with_the_same_content_keeps_its_id") {
  Catalog catalog;
  const StreamId stream{"n", {1}};
  catalog.declare_stream({stream, std::nullopt, StreamOrigin::RemoteNode});
  const auto first = catalog.register_channel(stream, "a", TextStream{});
  REQUIRE(first);
  CHECK(*first == ChannelId{1});
  CHECK(catalog.register_channel(stream, "a", TextStream{}) == first);
  CHECK(catalog.version() == 2);
}
