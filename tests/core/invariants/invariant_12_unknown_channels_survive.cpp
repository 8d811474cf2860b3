/// Specification 9.1, invariant 12: a frame with an unknown numeric id or name is stored whole and
/// rendered raw unless metadata later enables decoding.

#include <datastream/ingest/consumer.hpp>
#include <datastream/views/merged_log.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace datastream;

namespace {

const StreamId stream{"node-a", {7}};

/// The stream's log with all that the consumer's catalog knows at this moment.
std::vector<std::string> log(const Consumer& consumer) {
  const DatastreamSnapshot catalog = consumer.catalog().snapshot().snapshot;
  const ChannelNames names(catalog, stream);
  const ChannelRegistry registry = registry_of(catalog, stream);
  std::vector<std::string> lines;
  for (const LogEntry& entry :
       merged_log_with_names(*consumer.store().find(stream), registry, std::cref(names)))
    lines.push_back(to_string(entry));
  return lines;
}

} // namespace

TEST_CASE("invariant_12_unknown_channels_survive") {
  const std::string payload("{\"queue\":3}\0\xff", 13);
  Consumer consumer;
  CHECK(consumer.accept(Delivery{stream, {{41}, {0}, payload}}));
  CHECK(consumer.accept(Delivery{stream, {{42}, {1}, R"({"queue":3})"}}));
  CHECK(consumer.accept(Delivery{stream, {{0}, {2}, ""}}));

  CHECK(consumer.store().find(stream)->at({0})->payload == payload);
  CHECK(log(consumer) == std::vector<std::string>{"#0 [41] <13 opaque bytes>",
                                                  "#1 [42] <11 opaque bytes>",
                                                  "#2 [0] <0 opaque bytes>"});

  consumer.accept(ChannelDeclared{{stream, {42}, "worker.load", std::nullopt, JsonRecord{}}});
  CHECK(log(consumer) == std::vector<std::string>{"#0 [41] <13 opaque bytes>",
                                                  R"(#1 [worker.load] {"queue":3})",
                                                  "#2 [0] <0 opaque bytes>"});
}

TEST_CASE("invariant_12_a_name_that_the_callers_registry_does_not_know_stays_raw") {
  Consumer consumer;
  consumer.accept(ChannelDeclared{{stream, {1}, "from.the.future", std::nullopt, JsonRecord{}}});
  consumer.accept(Delivery{stream, {{1}, {0}, "{}"}});
  const DatastreamSnapshot catalog = consumer.catalog().snapshot().snapshot;
  const ChannelNames names(catalog, stream);
  const auto entries = merged_log_with_names(*consumer.store().find(stream),
                                             ChannelRegistry{}.typed("known"), std::cref(names));
  CHECK(to_string(*entries.begin()) == "#0 [from.the.future] <2 opaque bytes>");
}
