#include <datastream/views/channel_classifier.hpp>
#include <datastream/views/channel_names.hpp>

#include <doctest/doctest.h>

using namespace datastream;

namespace {

const StreamId stream{"node-a", {7}};
const StreamId other{"node-a", {8}};

DatastreamSnapshot catalog() {
  return {{},
          {{stream, {1}, "a.record", std::nullopt, JsonRecord{"a"}},
           {stream, {2}, "a.text", std::nullopt, TextStream{}},
           {stream, {3}, "a.bytes", std::nullopt, Bytes{}},
           {other, {1}, "other.text", std::nullopt, TextStream{}}}};
}

} // namespace

static_assert(ChannelClassifier<ChannelRegistry>);
static_assert(ChannelClassifier<ChannelKind (*)(std::string_view)>, "a function counts as one");
static_assert(NameResolver<ChannelNames>);

TEST_CASE("a_registry_calls_unknown_names_opaque") {
  CHECK(ChannelRegistry{}("anything") == ChannelKind::Opaque);
  CHECK(ChannelRegistry{}("") == ChannelKind::Opaque);
}

TEST_CASE("a_registry_knows_exact_names_and_text_prefixes") {
  const ChannelRegistry known =
      ChannelRegistry{}.typed("worker.load").text("worker.log").text_prefix("proc.");
  CHECK(known("worker.load") == ChannelKind::Typed);
  CHECK(known("worker.load2") == ChannelKind::Opaque);
  CHECK(known("worker.log") == ChannelKind::Text);
  CHECK(known("worker.log.more") == ChannelKind::Opaque);
  CHECK(known("proc.trainer.stdout") == ChannelKind::Text);
  CHECK(known("proc.") == ChannelKind::Text);
  CHECK(known("proc") == ChannelKind::Opaque);
}

TEST_CASE("a_typed_name_beats_text_of_the_same_name_and_a_matching_prefix") {
  const ChannelRegistry known =
      ChannelRegistry{}.text_prefix("proc.").text("x").typed("x").typed("proc.trainer.lifecycle");
  CHECK(known("proc.trainer.lifecycle") == ChannelKind::Typed);
  CHECK(known("x") == ChannelKind::Typed);
}

TEST_CASE("the_empty_prefix_makes_every_other_channel_text") {
  const ChannelRegistry known = ChannelRegistry{}.text_prefix("");
  CHECK(known("") == ChannelKind::Text);
  CHECK(known("any") == ChannelKind::Text);
}

TEST_CASE("declared_content_suggests_a_kind") {
  CHECK(channel_kind(Bytes{}) == ChannelKind::Opaque);
  CHECK(channel_kind(TextStream{}) == ChannelKind::Text);
  CHECK(channel_kind(JsonRecord{}) == ChannelKind::Typed);
}

TEST_CASE("a_catalog_becomes_a_registry_of_one_stream") {
  const ChannelRegistry known = registry_of(catalog(), stream);
  CHECK(known("a.record") == ChannelKind::Typed);
  CHECK(known("a.text") == ChannelKind::Text);
  CHECK(known("a.bytes") == ChannelKind::Opaque);
  CHECK(known("other.text") == ChannelKind::Opaque);
}

TEST_CASE("a_catalog_becomes_the_names_of_one_stream") {
  const ChannelNames names(catalog(), stream);
  CHECK(names({1}) == "a.record");
  CHECK(names({3}) == "a.bytes");
  CHECK(names({4}) == std::nullopt);
  CHECK(names.find("a.text") == ChannelId{2});
  CHECK(names.find("other.text") == std::nullopt);
}
