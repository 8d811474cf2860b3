#include <datastream/pipe/catalog.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <set>
#include <thread>

#include <heap_bytes.hpp>

using namespace datastream;
using datastream::test::heap_bytes;
using Kind = CatalogError::Kind;

namespace {

const StreamId stream_a{"a", {1}};
const StreamId stream_a2{"a", {2}};
const StreamId stream_b{"b", {1}};

ChannelDescriptor channel(const StreamId& stream, std::uint32_t id, std::string name,
                          ChannelContent content = Bytes{}) {
  return {stream, ChannelId{id}, std::move(name), std::nullopt, std::move(content)};
}

/// Two lives of one node and another node; channels of every content.
void fill(Catalog& catalog) {
  catalog.declare_stream({stream_b, std::nullopt, StreamOrigin::Bootstrap});
  catalog.declare_stream({stream_a2, std::nullopt, StreamOrigin::RemoteNode});
  catalog.declare_stream({stream_a, "label", StreamOrigin::RemoteNode});
  for (const StreamId& stream : {stream_a, stream_a2}) {
    REQUIRE(catalog.register_channel(stream, "host.cpu", JsonRecord{"host.cpu"}));
    REQUIRE(catalog.register_channel(stream, "proc.x.stdout", TextStream{}));
  }
  REQUIRE(catalog.register_channel(stream_b, "proc.y.stdout", TextStream{}));
}

std::vector<std::string> shown(const Catalog& catalog, SourceFilter sources,
                               ChannelFilter channels) {
  std::vector<std::string> names;
  const auto seen = catalog.snapshot({std::move(sources), std::move(channels)}).snapshot;
  for (const auto& stream : seen.streams)
    names.push_back(to_string(stream.stream));
  for (const auto& known : seen.channels)
    names.push_back(known.name);
  return names;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("a_name_registered_twice_with_the_same_content_keeps_its_id") {
  Catalog catalog;
  catalog.declare_stream({stream_a, std::nullopt, StreamOrigin::RemoteNode});
  const auto first = catalog.register_channel(stream_a, "a", TextStream{});
  REQUIRE(first);
  CHECK(*first == ChannelId{1});
  CHECK(catalog.register_channel(stream_a, "a", TextStream{}) == first);
  CHECK(catalog.version() == 2);
}

TEST_CASE("a_conflicting_registration_changes_nothing_and_burns_no_id") {
  Catalog catalog;
  catalog.declare_stream({stream_a, std::nullopt, StreamOrigin::RemoteNode});
  REQUIRE(catalog.register_channel(stream_a, "r", JsonRecord{}));
  for (const ChannelContent& other :
       {ChannelContent(Bytes{}), ChannelContent(TextStream{}), ChannelContent(JsonRecord{"r"})}) {
    const auto refused = catalog.register_channel(stream_a, "r", other);
    REQUIRE(!refused);
    CHECK(refused.error().kind == Kind::conflicting_name);
    CHECK(refused.error().message.find("'r'") != std::string::npos);
  }
  CHECK(catalog.version() == 2);
  CHECK(*catalog.register_channel(stream_a, "s", Bytes{}) == ChannelId{2});
}

TEST_CASE("names_are_not_validated") {
  Catalog catalog;
  catalog.declare_stream({stream_a, std::nullopt, StreamOrigin::RemoteNode});
  for (const char* name : {"", " ", "with space", "\xc3\xa9", "\xff"})
    CHECK(catalog.register_channel(stream_a, name, Bytes{}));
  CHECK(catalog.version() == 6);
}

TEST_CASE("every_stream_counts_its_ids_from_one") {
  Catalog catalog;
  fill(catalog);
  CHECK(catalog.find_channel(stream_a, "proc.x.stdout")->id == ChannelId{2});
  CHECK(catalog.find_channel(stream_b, "proc.y.stdout")->id == ChannelId{1});
  CHECK(catalog.find_channel(stream_b, ChannelId{2}) == nullptr);
  CHECK(catalog.find_channel(stream_b, "host.cpu") == nullptr);
  CHECK(catalog.find_channel({"nobody", {1}}, ChannelId{1}) == nullptr);
}

TEST_CASE("registering_on_a_stream_that_was_never_declared_is_refused") {
  Catalog catalog;
  const auto refused = catalog.register_channel(stream_a, "a", Bytes{});
  REQUIRE(!refused);
  CHECK(refused.error().kind == Kind::unknown_stream);
  CHECK(refused.error().message.find("a#1") != std::string::npos);
  CHECK(catalog.version() == 0);
}

TEST_CASE("an_ended_stream_takes_no_new_channel_and_still_knows_the_old_ones") {
  Catalog catalog;
  fill(catalog);
  catalog.close_stream(stream_a);
  CHECK(catalog.register_channel(stream_a, "late", Bytes{}).error().kind == Kind::stream_ended);
  CHECK(*catalog.register_channel(stream_a, "proc.x.stdout", TextStream{}) == ChannelId{2});
  CHECK(catalog.register_channel(stream_a2, "late", Bytes{}));
}

TEST_CASE("the_last_channel_id_is_given_out_and_then_no_other") {
  Catalog catalog;
  catalog.declare_stream({stream_a, std::nullopt, StreamOrigin::RemoteNode});
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  REQUIRE(catalog.declare_channel(channel(stream_a, most - 1, "nearly")));
  CHECK(*catalog.register_channel(stream_a, "last", Bytes{}) == ChannelId{most});
  CHECK(catalog.register_channel(stream_a, "more", Bytes{}).error().kind == Kind::ids_exhausted);
  CHECK(*catalog.register_channel(stream_a, "last", Bytes{}) == ChannelId{most});
}

TEST_CASE("a_registration_never_reuses_an_id_that_was_declared") {
  Catalog catalog;
  REQUIRE(catalog.declare_channel(channel(stream_a, 1, "theirs")));
  REQUIRE(catalog.declare_channel(channel(stream_a, 3, "theirs.too")));
  CHECK(*catalog.register_channel(stream_a, "ours", Bytes{}) == ChannelId{4});
  CHECK(catalog.find_channel(stream_a, ChannelId{1})->name == "theirs");
}

TEST_CASE("equal_declarations_collapse_and_conflicting_ones_leave_the_first") {
  Catalog catalog;
  CHECK(*catalog.declare_channel(channel(stream_a, 4, "x")) == true);
  CHECK(*catalog.declare_channel(channel(stream_a, 4, "x")) == false);
  ChannelDescriptor labelled = channel(stream_a, 4, "x");
  labelled.label = "label";
  for (const auto& other :
       {channel(stream_a, 4, "y"), channel(stream_a, 4, "x", TextStream{}), labelled}) {
    const auto refused = catalog.declare_channel(other);
    REQUIRE(!refused);
    CHECK(refused.error().kind == Kind::conflicting_declaration);
  }
  CHECK(catalog.find_channel(stream_a, ChannelId{4})->name == "x");
  CHECK(catalog.version() == 2); // the stream, declared on the way, and the channel
  CHECK(catalog.find_stream(stream_a)->origin == StreamOrigin::RemoteNode);
}

TEST_CASE("the_first_descriptor_of_a_stream_stays") {
  Catalog catalog;
  CHECK(catalog.declare_stream({stream_a, "first", StreamOrigin::Bootstrap}));
  CHECK(!catalog.declare_stream({stream_a, "second", StreamOrigin::Orchestrator}));
  CHECK(catalog.find_stream(stream_a)->label == "first");
  CHECK(catalog.version() == 1);
}

TEST_CASE("taking_over_a_snapshot_counts_its_conflicts") {
  Catalog theirs;
  fill(theirs);
  Catalog ours;
  REQUIRE(ours.declare_channel(channel(stream_b, 1, "other")));
  const auto snapshot = theirs.snapshot().snapshot;
  CHECK(ours.declare_all(snapshot) == 1);
  CHECK(ours.declare_all(snapshot) == 1);
  CHECK(ours.find_channel(stream_a, ChannelId{1})->name == "host.cpu");
}

TEST_CASE("declarations_are_a_log_whose_length_is_the_version") {
  Catalog catalog;
  fill(catalog);
  CHECK(catalog.version() == 8);
  const auto all = catalog.declarations(0, catalog.version());
  REQUIRE(all.size() == 8);
  CHECK(std::get<StreamDescriptorPtr>(all[0])->stream == stream_b);
  CHECK(std::get<ChannelDescriptorPtr>(all[3])->name == "host.cpu");
  for (std::size_t from = 0; from <= 8; ++from)
    CHECK(catalog.declarations(from, 8) ==
          std::vector<Declaration>(all.begin() + static_cast<std::ptrdiff_t>(from), all.end()));
  CHECK(catalog.declarations(6, 1000).size() == 2);
  CHECK(catalog.declarations(8, 8).empty());
  CHECK(catalog.declarations(9, 3).empty());
  CHECK(catalog.find_entry(stream_a, ChannelId{2}).index == 4);
}

TEST_CASE("a_snapshot_lists_streams_by_id_and_channels_by_stream_and_id") {
  Catalog catalog;
  fill(catalog);
  CHECK(shown(catalog, source_filter::All{}, channel_filter::All{}) ==
        Names{"a#1", "a#2", "b#1", "host.cpu", "proc.x.stdout", "host.cpu", "proc.x.stdout",
              "proc.y.stdout"});
  CHECK(catalog.snapshot().version == 8);
}

TEST_CASE("a_snapshot_shows_streams_with_a_matching_channel_or_all_when_all_channels_are_asked") {
  Catalog catalog;
  fill(catalog);
  catalog.declare_stream({{"empty", {1}}, std::nullopt, StreamOrigin::Orchestrator});
  const channel_filter::All all;
  CHECK(shown(catalog, source_filter::Origin{StreamOrigin::Orchestrator}, all) == Names{"empty#1"});
  CHECK(shown(catalog, source_filter::Origin{StreamOrigin::Bootstrap}, all) ==
        Names{"b#1", "proc.y.stdout"});
  CHECK(shown(catalog, source_filter::Node{"a"}, channel_filter::Name{"host.cpu"}) ==
        Names{"a#1", "a#2", "host.cpu", "host.cpu"});
  CHECK(shown(catalog, source_filter::Stream{stream_a2}, channel_filter::Prefix{"proc."}) ==
        Names{"a#2", "proc.x.stdout"});
  CHECK(shown(catalog, source_filter::All{},
              channel_filter::Content{ChannelContentKind::JsonRecord}) ==
        Names{"a#1", "a#2", "host.cpu", "host.cpu"});
  CHECK(shown(catalog, source_filter::Stream{stream_b}, channel_filter::Prefix{""}) ==
        Names{"b#1", "proc.y.stdout"});
  CHECK(shown(catalog, source_filter::All{}, channel_filter::Prefix{"nothing"}).empty());
  CHECK(shown(catalog, source_filter::Node{"nobody"}, all).empty());
}

TEST_CASE("threads_that_register_the_same_names_agree_on_their_ids") {
  Catalog catalog;
  catalog.declare_stream({stream_a, std::nullopt, StreamOrigin::RemoteNode});
  constexpr std::uint32_t names = 200;
  std::vector<std::vector<ChannelId>> ids(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : ids)
      threads.emplace_back([&] {
        for (std::uint32_t i = 0; i < names; ++i)
          mine.push_back(*catalog.register_channel(stream_a, std::to_string(i), Bytes{}));
      });
  }
  CHECK(ids[1] == ids[0]);
  CHECK(ids[2] == ids[0]);
  CHECK(ids[3] == ids[0]);
  CHECK(std::set<ChannelId>(ids[0].begin(), ids[0].end()).size() == names);
  CHECK(catalog.version() == names + 1);
}

TEST_CASE("a_snapshot_shows_exactly_what_the_log_has_up_to_its_version") {
  Catalog catalog;
  catalog.declare_stream({stream_a, std::nullopt, StreamOrigin::RemoteNode});
  std::atomic<bool> done = false;
  std::jthread owner([&] {
    for (int i = 0; i < 3000; ++i)
      catalog.register_channel(stream_a, std::to_string(i), Bytes{}).value();
    done = true;
  });
  for (bool last = false; !last;) {
    last = done;
    const auto [snapshot, version] = catalog.snapshot();
    REQUIRE(snapshot.channels.size() == version - 1);
    for (std::size_t i = 0; i < snapshot.channels.size(); ++i)
      REQUIRE(snapshot.channels[i].id.value == i + 1);
  }
}

TEST_CASE("look_ups_go_on_while_a_snapshot_is_taken") {
  Catalog catalog;
  catalog.declare_stream({stream_a, std::nullopt, StreamOrigin::RemoteNode});
  for (int i = 0; i < 50'000; ++i)
    REQUIRE(catalog.register_channel(stream_a, "some.longer.name." + std::to_string(i), Bytes{}));
  std::atomic<std::uint64_t> found = 0;
  std::jthread looking([&](const std::stop_token& stop) {
    while (!stop.stop_requested())
      found += catalog.find_channel(stream_a, ChannelId{7}) ? 1 : 0;
  });
  while (found == 0)
    std::this_thread::yield();
  int undisturbed = 0;
  for (int i = 0; i < 9; ++i) {
    const std::uint64_t before = found;
    REQUIRE(catalog.snapshot().snapshot.channels.size() == 50'000);
    undisturbed += found - before > 100 ? 1 : 0;
  }
  CHECK(undisturbed >= 5); // the system may have given one of them no time
}

TEST_CASE("a_forgotten_stream_is_gone_and_its_memory_with_it") {
  Catalog catalog;
  fill(catalog);
  const std::size_t version = catalog.version();
  const std::weak_ptr<const ChannelDescriptor> freed = catalog.find_channel(stream_a, ChannelId{1});
  const ChannelDescriptorPtr kept = catalog.find_channel(stream_a, ChannelId{2});
  CHECK(catalog.forget(stream_a));
  CHECK_FALSE(catalog.forget(stream_a));
  CHECK(freed.expired());
  CHECK(kept->name == "proc.x.stdout");
  CHECK_FALSE(catalog.find_stream(stream_a));
  CHECK_FALSE(catalog.find_channel(stream_a, ChannelId{1}));
  CHECK_FALSE(catalog.find_channel(stream_a, "host.cpu"));
  CHECK(catalog.version() == version);
  CHECK(catalog.declarations(0, version).size() == version - 3);
  CHECK(shown(catalog, source_filter::All{}, channel_filter::All{}) ==
        Names{"a#2", "b#1", "host.cpu", "proc.x.stdout", "proc.y.stdout"});
}

TEST_CASE("what_is_declared_of_a_forgotten_stream_is_new_and_may_mean_something_else") {
  Catalog catalog;
  REQUIRE(catalog.declare_channel(channel(stream_a, 1, "old")));
  CHECK(catalog.forget(stream_a));
  CHECK(catalog.declare_channel(channel(stream_a, 1, "new", TextStream{})) == true);
  CHECK(catalog.version() == 4);
  const auto log = catalog.declarations(0, 4);
  REQUIRE(log.size() == 2);
  CHECK(std::get<StreamDescriptorPtr>(log[0])->stream == stream_a);
  CHECK(std::get<ChannelDescriptorPtr>(log[1])->name == "new");
  CHECK(catalog.find_entry(stream_a, ChannelId{1}).index == 3);
}

TEST_CASE("lives_that_come_and_go_leave_no_memory_behind") {
  Catalog catalog;
  std::weak_ptr<const ChannelDescriptor> seen;
  const auto come_and_go = [&](std::uint64_t life) {
    const StreamId id{"n", {life}};
    for (std::uint32_t number = 1; number <= 3; ++number)
      REQUIRE(catalog.declare_channel(channel(id, number, std::to_string(number))));
    seen = catalog.find_channel(id, ChannelId{1});
    REQUIRE(catalog.forget(id));
    REQUIRE(seen.expired());
  };
  for (std::uint64_t life = 1; life <= 1000; ++life)
    come_and_go(life);
  const std::size_t before = heap_bytes();
  for (std::uint64_t life = 1001; life <= 11'000; ++life)
    come_and_go(life);
  CHECK(heap_bytes() <= before + (16U << 10U));
}

TEST_CASE("lives_that_come_and_go_leave_one_that_stays_as_it_was") {
  Catalog catalog;
  REQUIRE(catalog.declare_channel(channel(stream_b, 1, "stays")));
  for (std::uint64_t life = 1; life <= 1000; ++life) {
    const StreamId id{"n", {life}};
    for (std::uint32_t number = 1; number <= 3; ++number)
      REQUIRE(catalog.declare_channel(channel(id, number, std::to_string(number))));
    REQUIRE(catalog.forget(id));
  }
  CHECK(catalog.version() == 2 + 4 * 1000);
  CHECK(catalog.declarations(0, catalog.version()).size() == 2);
  CHECK(catalog.declarations(2, catalog.version()).empty());
  CHECK(shown(catalog, source_filter::All{}, channel_filter::All{}) == Names{"b#1", "stays"});
}
