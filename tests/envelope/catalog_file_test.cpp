/// Names of channels from a file.

#include <datastream/envelope/catalog_file.hpp>

#include <datastream/envelope/codec.hpp>
#include <datastream/ingest/consumer.hpp>
#include <datastream/model/json.hpp>
#include <datastream/pipe/endpoint.hpp>
#include <datastream/views/channel_names.hpp>
#include <datastream/views/merged_log.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace datastream;

namespace {

/// A file that goes when the test does.
struct TemporaryFile {
  explicit TemporaryFile(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("datastream_catalog_" + std::to_string(::getpid()) + ".json");
};

} // namespace

TEST_CASE("a_catalog_from_a_file_names_frames_that_came_without_names") {
  DatastreamEndpoint node(StreamId{"node-a", {7}});
  const ChannelId log = node.register_channel("worker.log", TextStream{});
  const TemporaryFile file(
      encode_json(node.catalog()->snapshot(SubscriptionRequest::all()).snapshot));

  Consumer consumer;
  consumer.accept(Delivery{node.stream_id(), {log, {0}, "hello"}});
  CHECK(consumer.channel_name(node.stream_id(), log).empty());
  const auto catalog = load_catalog(file.path);
  REQUIRE(catalog);
  consumer.declare(*catalog);
  CHECK(consumer.channel_name(node.stream_id(), log) == "worker.log");
}

TEST_CASE("an_empty_catalog_is_a_catalog") {
  const TemporaryFile file(R"({"streams":[],"channels":[]})");
  CHECK(load_catalog(file.path) == DatastreamSnapshot{});
}

TEST_CASE("a_file_that_cannot_be_read_is_told_from_one_that_holds_no_catalog") {
  using Kind = CatalogFileError::Kind;
  const auto error_of = [](const std::filesystem::path& path) {
    const auto catalog = load_catalog(path);
    REQUIRE(!catalog);
    CHECK(catalog.error().message.starts_with(path.string() + ": "));
    return catalog.error().kind;
  };
  CHECK(error_of("/does/not/exist.json") == Kind::unreadable);
  CHECK(error_of(std::filesystem::temp_directory_path()) == Kind::unreadable);
  for (const char* text : {"", "{", "[]", "{\"streams\":[]}", "not json", "\xff"})
    CHECK(error_of(TemporaryFile(text).path) == Kind::not_a_catalog);
}
