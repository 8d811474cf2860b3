#include <datastream/defaults.hpp>
#include <datastream/model/health.hpp>
#include <datastream/model/json_document.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace datastream;

namespace {

PipeLedger with_subscribers(std::size_t count, const std::string& name) {
  PipeLedger ledger;
  for (std::size_t i = 0; i < count; ++i)
    ledger.fanout.subscribers.push_back({{i + 1}, name, {7, 4, 2, 1, 0}});
  return ledger;
}

std::string first_name(const std::string& name) {
  const std::string record = encode_health(with_subscribers(1, name));
  const std::string before = R"("name":")";
  const std::size_t begin = record.find(before) + before.size();
  return record.substr(begin, record.find('"', begin) - begin);
}

} // namespace

TEST_CASE("a_health_record_lists_the_first_subscribers_and_sums_the_others") {
  constexpr std::size_t most = defaults::health_subscribers;
  const std::string all = encode_health(with_subscribers(most, "reader"));
  CHECK(all.find(R"({"id":1024,"name":"reader",)") != std::string::npos);
  CHECK(all.ends_with(R"("omitted":{"subscribers":0,"offered":0,"acknowledged":0,"dropped":0,)"
                      R"("outstanding":0,"abandoned":0}})"));
  const std::string some = encode_health(with_subscribers(most + 3, "reader"));
  CHECK(some.find(R"({"id":1024,"name":"reader",)") != std::string::npos);
  CHECK(some.find(R"({"id":1025,)") == std::string::npos);
  CHECK(some.ends_with(R"("omitted":{"subscribers":3,"offered":21,"acknowledged":12,"dropped":6,)"
                       R"("outstanding":3,"abandoned":0}})"));
}

TEST_CASE("a_name_in_a_health_record_is_cut_between_two_characters") {
  constexpr std::size_t most = defaults::health_name_bytes;
  CHECK(first_name(std::string(most, 'x')) == std::string(most, 'x'));
  CHECK(first_name(std::string(most + 1, 'x')) == std::string(most, 'x'));
  for (std::size_t before = most - 4; before <= most; ++before) {
    const std::string start(before, 'x');
    CHECK(first_name(start + "\xF0\x9F\x98\x80" + "y") ==
          (before == most - 4 ? start + "\xF0\x9F\x98\x80" : start));
  }
}

TEST_CASE("the_largest_health_record_is_a_valid_one_of_less_than_2_mebibytes") {
  for (const char fill : {'\x01', '\x80'}) {
    const std::string record = encode_health(
        with_subscribers(3 * defaults::health_subscribers, std::string(100'000, fill)));
    CHECK(record.size() < 2U << 20U);
    CHECK(JsonDocument::parse(record));
  }
}
