#include <datastream/views/latest.hpp>

#include <doctest/doctest.h>

#include <stream_of.hpp>

using namespace datastream;

TEST_CASE("the_latest_frame_of_a_channel_has_its_highest_position_not_its_last_arrival") {
  const StoredStream stream =
      stream_of({{{1}, {8}, "latest"}, {{1}, {2}, "arrived later"}, {{2}, {9}, "another channel"}});
  REQUIRE(latest(stream, {1}));
  CHECK(latest(stream, {1})->payload == "latest");
  CHECK(latest(stream, {2})->position == Position{9});
}

TEST_CASE("a_channel_without_frames_has_no_latest_one") {
  CHECK_FALSE(latest(stream_of({{{1}, {0}, "x"}}), {2}));
  CHECK_FALSE(latest(stream_of({}), {1}));
}
