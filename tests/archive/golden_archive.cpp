#include "golden_archive.hpp"

#include "format/block_index.hpp"
#include "format/checksum.hpp"
#include "format/descriptors_block.hpp"
#include "format/frames_block.hpp"
#include "format/segment_header.hpp"
#include "format/tip.hpp"

#include <datastream/model/block.hpp>
#include <datastream/model/descriptor.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace datastream::test {

using namespace format;

namespace {

constexpr std::string_view id_text = "example archive.";
constexpr std::int64_t midnight = 1'764'460'800'000'000; // of 2025-11-30
constexpr std::int64_t second = 1'000'000;

ArchiveId archive_id() {
  ArchiveId id{};
  static_assert(id_text.size() == id.size());
  std::ranges::copy(id_text, id.begin());
  return id;
}

/// A segment in memory.
class Segment {
public:
  explicit Segment(const SegmentHeader& header) {
    EncodedSegmentHeader encoded = encode(header);
    bytes_ = std::move(encoded.bytes);
    previous_ = encoded.checksum;
    sequence_ = header.first_sequence;
  }

  void append(UnplacedBlock block) {
    block.place(sequence_, previous_);
    const std::string header = block.encoded_header();
    footer_.add(bytes_.size(), header, block.directory);
    bytes_ += header + block.directory + block.body;
    previous_ = block.header.checksum;
    sequence_ = block.header.end_sequence();
  }

  FooterBuilder& footer() { return footer_; }
  void seal(UnplacedBlock footer) {
    const Trailer trailer{bytes_.size(), sequence_};
    append(std::move(footer));
    bytes_ += encode(trailer);
  }

  const std::string& bytes() const { return bytes_; }
  std::uint64_t sequence() const { return sequence_; }

private:
  std::string bytes_;
  FooterBuilder footer_;
  std::uint64_t previous_ = 0;
  std::uint64_t sequence_ = 0;
};

/// The same block with its body as it is.
UnplacedBlock uncompressed(UnplacedBlock block) {
  const BlockPtr raw = *decode_body(block.header, adopt_string(std::string(block.body)));
  block.body.assign(raw->data(), block.header.raw_bytes);
  block.header.compression = Compression::none;
  block.header.stored_bytes = block.header.raw_bytes;
  block.header.body_checksum = checksum(block.body);
  return block;
}

Segment sealed_segment(Compressor& compressor) {
  const auto stream = std::make_shared<const StreamId>("node-a", Lifetime{7});
  Segment segment({.archive = archive_id(), .number = 1, .first_sequence = 1, .created = midnight});
  DescriptorsBlockBuilder descriptors;
  descriptors.add(std::make_shared<const StreamDescriptor>(*stream, "example"));
  descriptors.add(std::make_shared<const ChannelDescriptor>(*stream, ChannelId{1}, "runtime.log",
                                                            std::nullopt, TextStream{}));
  descriptors.add(std::make_shared<const ChannelDescriptor>(*stream, ChannelId{2}, "worker.load",
                                                            std::nullopt, JsonRecord{"load.v1"}));
  segment.append(uncompressed(descriptors.finish(compressor)));

  FramesBlockBuilder frames;
  frames.begin_batch(stream, midnight + second);
  frames.add({{1}, {0}, "hello", {}});
  frames.add({{2}, {1}, R"({"queue":3})", {}});
  frames.begin_batch(stream, midnight + 2 * second);
  frames.add({{1}, {3}, "", {}});
  segment.append(uncompressed(frames.finish(compressor)));
  segment.seal(uncompressed(segment.footer().finish(compressor)));
  return segment;
}

Segment active_segment(Compressor& compressor, std::uint64_t first_sequence) {
  const auto a = std::make_shared<const StreamId>("node-a", Lifetime{8});
  const auto b = std::make_shared<const StreamId>("b", Lifetime{UINT64_MAX});
  Segment segment({.archive = archive_id(),
                   .number = 36,
                   .first_sequence = first_sequence,
                   .created = midnight + 3 * second});
  DescriptorsBlockBuilder descriptors;
  descriptors.add_source("node");
  descriptors.add(
      std::make_shared<const StreamDescriptor>(*a, std::nullopt, StreamOrigin::Orchestrator));
  descriptors.add(std::make_shared<const StreamDescriptor>(*b, "", StreamOrigin::Bootstrap));
  descriptors.add(
      std::make_shared<const ChannelDescriptor>(*a, ChannelId{1}, "n\xc3\xa4me", "L", Bytes{}));
  descriptors.add(std::make_shared<const ChannelDescriptor>(*b, ChannelId{UINT32_MAX}, "x",
                                                            std::nullopt, JsonRecord{}));
  descriptors.add(StreamStart{*a, {2}});
  descriptors.add(StreamStart{*b, {0}});
  segment.append(descriptors.finish(compressor));

  FramesBlockBuilder frames;
  const std::string long_text(300, 'x');
  frames.begin_batch(a, midnight + 4 * second);
  frames.add({{1}, {5}, long_text, {}});
  frames.add({{9}, {4}, {"\xff\0\n", 3}, {}}); // of no declared channel, and late
  frames.begin_batch(b, midnight + 4 * second);
  frames.add({{UINT32_MAX}, {UINT64_MAX}, "{}", {}});
  frames.begin_batch(a, -second); // a clock may say anything
  frames.add({{1}, {6}, long_text, {}});
  segment.append(frames.finish(compressor));

  frames.begin_batch(b, midnight + 5 * second);
  for (std::uint64_t position = 0; position < 3; ++position)
    frames.add({{UINT32_MAX}, {position}, "[]", {}});
  segment.append(frames.finish(compressor));

  descriptors.add(StreamEnd{{"node-a", {7}}, 5});
  descriptors.add(StreamEnd{*a, 8});
  descriptors.add(StreamStart{*a, {4}});  // which was known to begin earlier
  descriptors.add_source("orchestrator"); // as somebody else wrote
  segment.append(descriptors.finish(compressor));
  return segment;
}

} // namespace

GoldenArchive golden_archive() {
  Compressor compressor;
  GoldenArchive golden;
  const Segment sealed = sealed_segment(compressor);
  golden.sealed = segment_name(1);
  golden.files[golden.sealed] = sealed.bytes();

  Segment active = active_segment(compressor, sealed.sequence());
  golden.active = segment_name(36);
  golden.durable = active.bytes().size();
  const std::uint64_t durable_sequence = active.sequence();
  FramesBlockBuilder more;
  more.begin_batch(std::make_shared<const StreamId>("node-a", Lifetime{8}), midnight + 6 * second);
  more.add({{1}, {7}, "not durable yet", {}});
  active.append(more.finish(compressor));
  golden.files[golden.active] = active.bytes();

  const Tip later{.archive = archive_id(),
                  .count = 9,
                  .first_sequence = 1,
                  .end_sequence = durable_sequence,
                  .segment = 36,
                  .generation = 0,
                  .offset = golden.durable};
  Tip older = later;
  older.count = 8;
  older.end_sequence = sealed.sequence();
  older.offset = segment_header_bytes;
  std::string& tip = golden.files["tip"];
  tip = encode(later);
  tip.resize(tip_place_bytes);
  tip += encode(older);
  tip.resize(tip_file_bytes);
  return golden;
}

} // namespace datastream::test
