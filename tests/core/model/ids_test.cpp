#include <datastream/model/ids.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace datastream;

TEST_CASE("a_stream_is_read_as_it_is_written") {
  for (const StreamId& stream :
       {StreamId{"node-a", {7}}, StreamId{"", {0}}, StreamId{"a#b#12", {UINT64_MAX}},
        StreamId{std::string("\0\xff#", 3), {10}}})
    CHECK(parse_stream_id(to_string(stream)) == stream);
}

TEST_CASE("what_is_not_written_as_a_stream_is_none") {
  for (const char* text :
       {"", "node", "7", "node#", "node#-1", "node#+1", "node# 1", "node#1 ", "node#07", "node#00",
        "node#0x1", "node#1.0", "node#18446744073709551616", "node#99999999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_stream_id(text));
  }
}
