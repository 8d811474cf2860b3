#include <datastream/model/event.hpp>

#include <doctest/doctest.h>

using namespace datastream;

TEST_CASE("of_all_events_a_frame_has_the_older_form_of_a_delivery") {
  const StreamId stream{"node", {7}};
  CHECK(to_delivery(FrameDelivery{{stream, ChannelId{3}}, Position{9}, "payload"}) ==
        Delivery{stream, {ChannelId{3}, Position{9}, "payload"}});
  CHECK(!to_delivery(StreamDeclared{{.stream = stream, .label = std::nullopt}}));
  CHECK(!to_delivery(ChannelDeclared{{stream, ChannelId{3}, "log", std::nullopt, TextStream{}}}));
  CHECK(!to_delivery(StreamEnded{stream}));
}
