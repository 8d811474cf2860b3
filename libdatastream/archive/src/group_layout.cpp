#include "group_layout.hpp"

#include "format/descriptors_block.hpp"

#include <utility>
#include <variant>

namespace datastream {

namespace {

class Layout {
public:
  Layout(const SegmentDeclarations& known, const Catalog& catalog, format::Compressor& compressor)
      : known_(known), catalog_(catalog), compressor_(compressor) {}

  /// Puts an entry behind what there is.
  template <class Entry>
  void say(const Entry& entry) {
    if (!descriptors_.has_room())
      finish_descriptors();
    descriptors_.add(entry);
  }
  /// The same, if the segment was told another one last.
  void say_source(const std::string& source);
  /// Puts a declaration there, if the segment lacks it, and of a channel also of its stream.
  void declare(const Declaration& declaration);
  /// Puts a block of frames behind what it needs.
  void add(FilledBlock&& block);
  LaidOutGroup finish() {
    finish_descriptors();
    return std::move(result_);
  }

private:
  template <class... Name>
  bool has(const Name&... name) const {
    return known_.has(name...) || result_.said.has(name...);
  }
  void declare_once(const Declaration& declaration);
  void declare_stream(const StreamId& stream);
  void declare_channel(const StreamId& stream, ChannelId channel);
  void finish_descriptors();

  const SegmentDeclarations& known_;
  const Catalog& catalog_;
  format::Compressor& compressor_;
  format::DescriptorsBlockBuilder descriptors_;
  LaidOutGroup result_;
};

void Layout::say_source(const std::string& source) {
  if (known_.source() == source)
    return;
  descriptors_.add_source(source);
  result_.said.set_source(source);
}

void Layout::declare(const Declaration& declaration) {
  if (const auto* channel = std::get_if<ChannelDescriptorPtr>(&declaration))
    declare_stream((*channel)->stream);
  declare_once(declaration);
}

void Layout::declare_once(const Declaration& declaration) {
  if (has(declaration))
    return;
  say(declaration);
  result_.said.add(declaration);
}

void Layout::declare_stream(const StreamId& stream) {
  if (has(stream)) // and so the catalog need not be asked
    return;
  if (auto descriptor = catalog_.find_stream(stream))
    declare_once(std::move(descriptor));
}

void Layout::declare_channel(const StreamId& stream, ChannelId channel) {
  if (has(stream, channel))
    return;
  if (auto descriptor = catalog_.find_channel(stream, channel))
    declare_once(std::move(descriptor));
}

void Layout::add(FilledBlock&& block) {
  for (format::BlockStream& stream : block.streams) {
    declare_stream(*stream.stream);
    for (const std::uint32_t channel : stream.channels)
      declare_channel(*stream.stream, {channel});
    result_.streams.push_back(std::move(stream));
  }
  finish_descriptors();
  result_.blocks.push_back(std::move(block.block));
}

void Layout::finish_descriptors() {
  if (!descriptors_.empty())
    result_.blocks.push_back(descriptors_.finish(compressor_));
}

} // namespace

LaidOutGroup lay_out(const Said& said, std::vector<FilledBlock>&& filled,
                     const SegmentDeclarations& known, const Catalog& catalog,
                     const std::string& source, format::Compressor& compressor) {
  Layout layout(known, catalog, compressor);
  if (!source.empty())
    layout.say_source(source);
  for (const Declaration& declaration : said.declarations)
    layout.declare(declaration);
  for (const StreamStart& start : said.starts)
    layout.say(start);
  for (FilledBlock& block : filled)
    layout.add(std::move(block));
  for (const StreamEnd& end : said.ends)
    layout.say(end);
  return layout.finish();
}

} // namespace datastream
