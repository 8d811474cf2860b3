/// The catalog when any one allocation fails: what is told then is known whole or not at all.

#include <under_tsan.hpp>

#if !DATASTREAM_UNDER_TSAN

#include <datastream/pipe/catalog.hpp>

#include <shortage.hpp>

#include <doctest/doctest.h>

#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace datastream;
using datastream::test::Shortage;

namespace {

const StreamId stream_a{"a node whose name is long", {1}};
const StreamId stream_b{"another one whose name is long", {1}};

std::string name_of(std::uint32_t channel) {
  return "a channel whose name is long " + std::to_string(channel);
}

ChannelDescriptor channel(const StreamId& stream, std::uint32_t id, std::string name) {
  return {stream, ChannelId{id}, std::move(name), std::nullopt, JsonRecord{"a record"}};
}

/// Everything that can be seen of a catalog, and that its tables and its log say the same.
std::vector<Declaration> seen(const Catalog& catalog) {
  const auto [snapshot, version] = catalog.snapshot();
  auto log = catalog.declarations(0, version + 10);
  REQUIRE(catalog.version() == version);
  REQUIRE(log.size() == version);
  REQUIRE(snapshot.streams.size() + snapshot.channels.size() == version);
  std::set<StreamId> before; // a stream is declared before its channels
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (const auto* stream = std::get_if<StreamDescriptorPtr>(&log[i])) {
      REQUIRE(catalog.find_stream((*stream)->stream) == *stream);
      before.insert((*stream)->stream);
      continue;
    }
    const auto& declared = std::get<ChannelDescriptorPtr>(log[i]);
    REQUIRE(before.contains(declared->stream));
    REQUIRE(catalog.find_channel(declared->stream, declared->name) == declared);
    const Catalog::Entry entry = catalog.find_entry(declared->stream, declared->id);
    REQUIRE(entry.channel == declared);
    REQUIRE(entry.index == i);
  }
  return log;
}

/// Calls `declare` with every single allocation failing in turn, and last with none, when it must
/// answer `expected`. Whenever it throws the catalog is what it was. Returns how often it did.
template <class Expected, class Declare>
std::size_t with_every_shortage(const Catalog& catalog, const Expected& expected, Declare declare) {
  const auto before = seen(catalog);
  for (std::size_t n = 0;; ++n) {
    CAPTURE(n);
    std::optional<decltype(declare())> answer;
    try {
      const Shortage shortage(n);
      answer.emplace(declare());
    } catch (const std::bad_alloc&) {
    }
    REQUIRE(answer.has_value() != Shortage::happened());
    if (answer) {
      REQUIRE(*answer == expected);
      return n;
    }
    REQUIRE(seen(catalog) == before);
  }
}

} // namespace

// So many channels that every table and the log grow several times, and with them their memory.
constexpr std::uint32_t channels = 150;

TEST_CASE("a_registration_that_finds_no_memory_changes_nothing_and_burns_no_id") {
  Catalog catalog;
  CHECK(with_every_shortage(catalog, true, [&] {
          return catalog.declare_stream({stream_a, "a label that is long enough", {}});
        }) >= 4);
  std::size_t failed = 0;
  for (std::uint32_t id = 1; id <= channels; ++id) {
    CAPTURE(id);
    failed += with_every_shortage(catalog, ChannelId{id}, [&] {
      return catalog.register_channel(stream_a, name_of(id), Bytes{});
    });
  }
  CHECK(failed >= 2 * channels);
  CHECK(catalog.version() == channels + 1);
}

TEST_CASE("a_declaration_that_finds_no_memory_changes_nothing_and_makes_no_stream_known") {
  Catalog catalog;
  std::size_t failed = 0;
  for (std::uint32_t id = channels; id > 0; --id)
    for (const StreamId& stream : {stream_a, stream_b}) {
      CAPTURE(id);
      failed += with_every_shortage(
          catalog, true, [&] { return catalog.declare_channel(channel(stream, id, name_of(id))); });
    }
  CHECK(failed >= 4 * channels);
  CHECK(catalog.version() == 2 * channels + 2);
  CHECK(*catalog.register_channel(stream_b, "one more", Bytes{}) == ChannelId{channels + 1});
}

TEST_CASE("a_conflict_is_told_as_such_or_as_missing_memory") {
  Catalog catalog;
  REQUIRE(catalog.declare_channel(channel(stream_a, 1, name_of(1))));
  const auto kind_of = [](const auto& refused) { return refused.error().kind; };
  CHECK(with_every_shortage(catalog, CatalogError::Kind::conflicting_declaration, [&] {
          return kind_of(catalog.declare_channel(channel(stream_a, 1, name_of(2))));
        }) >= 2);
  CHECK(with_every_shortage(catalog, CatalogError::Kind::conflicting_name, [&] {
          return kind_of(catalog.register_channel(stream_a, name_of(1), Bytes{}));
        }) >= 2);
}

TEST_CASE("a_snapshot_that_finds_no_memory_is_taken_over_when_it_is_told_again") {
  Catalog theirs;
  for (const StreamId& stream : {stream_a, stream_b})
    for (std::uint32_t id = 1; id <= 20; ++id)
      REQUIRE(theirs.declare_channel(channel(stream, id, name_of(id))));
  const DatastreamSnapshot snapshot = theirs.snapshot().snapshot;
  std::size_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    Catalog ours;
    try {
      const Shortage shortage(n);
      ours.declare_all(snapshot);
    } catch (const std::bad_alloc&) {
    }
    failed = Shortage::happened();
    seen(ours);
    CHECK(ours.declare_all(snapshot) == 0);
    CHECK(ours.snapshot().snapshot == snapshot);
  }
  CHECK(n > 100);
}

#endif
