#include "format/block_index.hpp"
#include "format/descriptors_block.hpp"
#include "format/frames_block.hpp"
#include "format/segment_header.hpp"
#include "format/tip.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>

using namespace datastream;
using namespace datastream::format;

namespace {

BlockPtr block_of(std::string bytes) {
  return adopt_string(std::move(bytes));
}

} // namespace

TEST_CASE("segment_names_sort_in_the_order_of_their_numbers") {
  std::mt19937_64 random(7);
  std::uint64_t before = 0;
  for (int bits = 1; bits < 64; ++bits) {
    const std::uint64_t number = (random() >> (64 - bits)) | (std::uint64_t{1} << (bits - 1));
    const std::string name = segment_name(number);
    CHECK(parse_segment_name(name)->number == number);
    if (number > before)
      CHECK(segment_name(before) < name);
    before = number;
  }
  CHECK(segment_name(35) == "seg_000000000000z.0.dss");
  CHECK(parse_segment_name("seg_000000000000z.12.dss")->generation == 12);
  for (const char* other : {"seg_000000000000Z.0.dss", "seg_000000000000z.00.dss", "seg_z.0.dss",
                            "seg_000000000000z.0.dss.tmp", "tip", "seg_000000000000z..dss", ""})
    CHECK_FALSE(parse_segment_name(other));
}

TEST_CASE("a_block_of_frames_comes_back_as_the_batches_that_went_in") {
  Compressor compressor;
  FramesBlockBuilder builder;
  const auto a = std::make_shared<const StreamId>("a", Lifetime{1});
  const auto b = std::make_shared<const StreamId>("b", Lifetime{2});
  const std::string text(100, 'x');
  builder.begin_batch(a, 1000);
  builder.add({{1}, {5}, text, {}});
  builder.add({{9}, {3}, "", {}});
  builder.begin_batch(b, 2000);
  builder.add({{2}, {0}, "two", {}});
  builder.begin_batch(a, 3000); // of which nothing comes
  UnplacedBlock block = builder.finish(compressor);
  block.place(17, 99);

  const std::string head = block.encoded_header();
  REQUIRE(head.size() == block_header_bytes);
  const auto header = decode_block_header(head);
  REQUIRE(header);
  CHECK(*header == block.header);
  CHECK(checksum_matches(head, block.directory));
  CHECK(header->compression == Compression::zstd);
  auto directory = decode_directory(*header, block.directory);
  REQUIRE(directory);
  CHECK(directory->streams[0].lowest == Position{3});
  CHECK(directory->streams[0].channels == std::vector<std::uint32_t>{1, 9});
  auto body = decode_body(*header, block_of(block.body));
  REQUIRE(body);
  const auto frames = decode_frames(*header, std::move(*directory), *body);
  REQUIRE(frames);
  REQUIRE(frames->batches.size() == 2);
  CHECK(frames->batches[0].stream() == *a);
  CHECK(frames->batches[0][0].payload == text);
  CHECK(frames->batches[0][1].position == Position{3});
  CHECK(frames->batches[1][0].payload == "two");
  CHECK(builder.empty());
}

TEST_CASE("a_body_that_does_not_become_smaller_stays_as_it_is") {
  Compressor compressor;
  FramesBlockBuilder builder;
  builder.begin_batch(std::make_shared<const StreamId>("a", Lifetime{1}), 0);
  std::mt19937_64 random(3);
  std::string noise(4096, '\0');
  for (char& byte : noise)
    byte = static_cast<char>(random());
  builder.add({{1}, {0}, noise, {}});
  const UnplacedBlock block = builder.finish(compressor);
  CHECK(block.header.compression == Compression::none);
  CHECK(block.header.stored_bytes == block.header.raw_bytes);
}

TEST_CASE("what_repeats_becomes_smaller_also_among_much_that_does_not") {
  Compressor compressor;
  FramesBlockBuilder builder;
  std::mt19937_64 random(3);
  std::string payload(120, '\0');
  builder.begin_batch(std::make_shared<const StreamId>("a", Lifetime{1}), 0);
  for (std::uint64_t position = 0; position < 2000; ++position) {
    for (char& byte : payload)
      byte = static_cast<char>(random());
    builder.add({{1}, {position}, payload, {}});
  }
  UnplacedBlock block = builder.finish(compressor);
  CHECK(block.header.compression == Compression::zstd);
  CHECK(block.header.stored_bytes < block.header.raw_bytes - 2000 * frame_entry_bytes / 2);
  block.place(1, 1);
  const auto body = decode_body(block.header, block_of(block.body));
  REQUIRE(body);
  const auto frames =
      decode_frames(block.header, *decode_directory(block.header, block.directory), *body);
  REQUIRE(frames);
  CHECK(frames->batches[0][1999].payload == payload);
}

TEST_CASE("every_descriptor_comes_back_byte_for_byte") {
  Compressor compressor;
  DescriptorsBlockBuilder builder;
  const StreamId id{"n\xff\0de", {7}};
  std::vector<Declaration> declarations;
  declarations.push_back(
      std::make_shared<const StreamDescriptor>(id, "label", StreamOrigin::Bootstrap));
  declarations.push_back(std::make_shared<const StreamDescriptor>(id));
  for (const ChannelContent& content :
       {ChannelContent(Bytes{}), ChannelContent(TextStream{}), ChannelContent(JsonRecord{}),
        ChannelContent(JsonRecord{"schema.v1"})})
    declarations.push_back(
        std::make_shared<const ChannelDescriptor>(id, ChannelId{3}, "name", std::nullopt, content));
  for (const Declaration& declaration : declarations)
    builder.add(declaration);
  builder.add(StreamStart{id, {5}});
  builder.add(StreamEnd{{"", {UINT64_MAX}}, UINT64_MAX});
  UnplacedBlock block = builder.finish(compressor);
  const auto body = decode_body(block.header, block_of(block.body));
  REQUIRE(body);
  const auto decoded = decode_descriptors(block.header, *body);
  REQUIRE(decoded);
  CHECK(decoded->starts == std::vector{StreamStart{id, {5}}});
  CHECK(decoded->ends == std::vector{StreamEnd{{"", {UINT64_MAX}}, UINT64_MAX}});
  REQUIRE(decoded->declarations.size() == declarations.size());
  for (std::size_t i = 0; i < declarations.size(); ++i) {
    if (i < 2)
      CHECK(*std::get<StreamDescriptorPtr>(decoded->declarations[i]) ==
            *std::get<StreamDescriptorPtr>(declarations[i]));
    else
      CHECK(*std::get<ChannelDescriptorPtr>(decoded->declarations[i]) ==
            *std::get<ChannelDescriptorPtr>(declarations[i]));
  }
}

TEST_CASE("a_text_that_is_longer_than_the_format_allows_is_malformed") {
  const auto decoded = [](std::size_t bytes) {
    Compressor compressor;
    DescriptorsBlockBuilder builder;
    builder.add_source(std::string(bytes, 's'));
    const UnplacedBlock block = builder.finish(compressor);
    const auto body = decode_body(block.header, block_of(block.body));
    REQUIRE(body);
    return decode_descriptors(block.header, *body);
  };
  const auto longest = decoded(text_bytes_max);
  REQUIRE(longest);
  CHECK(longest->source->size() == text_bytes_max);
  CHECK_FALSE(decoded(text_bytes_max + 1));
}

TEST_CASE("of_two_tips_the_later_whole_one_counts") {
  Tip older{.count = 6, .end_sequence = 10};
  Tip later{.count = 7, .end_sequence = 12};
  std::string file(tip_file_bytes, '\0');
  CHECK_FALSE(decode_tip(file));
  file.replace(0, encode(older).size(), encode(older));
  CHECK(decode_tip(file)->end_sequence == 10);
  file.replace(tip_place_bytes, encode(later).size(), encode(later));
  CHECK(decode_tip(file)->end_sequence == 12);
  file[tip_place_bytes + 40] ^= 1;
  CHECK(decode_tip(file)->end_sequence == 10);
  file[0] ^= 1;
  CHECK_FALSE(decode_tip(file));
}

TEST_CASE("a_place_of_the_tip_that_was_written_and_is_not_whole_is_damaged") {
  std::string file(tip_file_bytes, '\0');
  CHECK_FALSE(damaged_tip_place(file)); // it was never written
  const std::string tip = encode(Tip{.count = 6});
  for (const std::size_t place : {std::size_t{0}, tip_place_bytes}) {
    file.replace(place, tip.size(), tip);
    CHECK_FALSE(damaged_tip_place(file));
    for (std::size_t at = 0; at < tip.size(); ++at) {
      std::string damaged = file;
      damaged[place + at] ^= static_cast<char>(1U << (at % 8));
      CHECK(damaged_tip_place(damaged) == place);
    }
    CHECK(damaged_tip_place(std::string_view(file).substr(0, place + tip.size() - 1)) == place);
  }
  CHECK(damaged_tip_place(std::string_view(file).substr(0, tip.size())) == tip_place_bytes);
  CHECK(damaged_tip_place({}) == 0);
}
