/// Specification 9.1, invariant 3: within one stream, registering a name again with the same
/// content returns its id; with other content it is an error.

#include <datastream/pipe/endpoint.hpp>

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace datastream;

TEST_CASE("invariant_03_catalog_consistency") {
  DatastreamEndpoint endpoint(StreamId{"node", {1}});
  const DatastreamProducer out = endpoint.producer();
  const std::vector<ChannelContent> contents = {Bytes{}, TextStream{}, JsonRecord{},
                                                JsonRecord{"a"}, JsonRecord{"b"}};

  SUBCASE("the same name and content have one id, and any other content conflicts") {
    for (std::size_t i = 0; i < contents.size(); ++i) {
      const std::string name = "channel." + std::to_string(i);
      const ChannelId id = out.register_channel(name, contents[i]);
      CHECK(id == ChannelId{static_cast<std::uint32_t>(i + 1)}); // refusals burn none
      for (std::size_t k = 0; k < contents.size(); ++k) {
        const auto before = endpoint.catalog()->snapshot();
        const auto again = endpoint.try_register_channel(name, contents[k]);
        if (k == i) {
          CHECK(again == id);
        } else {
          REQUIRE(!again);
          CHECK(again.error().kind == CatalogError::Kind::conflicting_name);
          CHECK_THROWS_AS(out.register_channel(name, contents[k]), std::logic_error);
        }
        CHECK(endpoint.catalog()->snapshot().snapshot == before.snapshot);
        CHECK(endpoint.catalog()->version() == before.version);
      }
      CHECK(out.find_channel(name) == id);
    }
  }

  SUBCASE("producers on many threads agree, and conflicts never win") {
    constexpr int names = 100;
    const std::vector<ChannelContent> both = {Bytes{}, TextStream{}};
    std::vector<std::vector<ChannelId>> ids(4);
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < ids.size(); ++t)
        threads.emplace_back([&mine = ids[t], &both, producer = out, t] {
          for (int i = 0; i < names; ++i) {
            const std::string name = std::to_string(i);
            // Everybody tries both contents; one of them is the first.
            const auto first = producer.try_register_channel(name, both[t % 2]);
            const auto second = producer.try_register_channel(name, both[1 - t % 2]);
            if (first.has_value() != second.has_value())
              mine.push_back(first ? *first : *second);
          }
        });
    }
    for (const auto& mine : ids)
      CHECK(mine == ids[0]);
    CHECK(std::set<ChannelId>(ids[0].begin(), ids[0].end()).size() == names);
    CHECK(endpoint.catalog()->snapshot().snapshot.channels.size() == names);
  }
}
