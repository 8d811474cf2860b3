#include "segment_writer.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace datastream {

using namespace format;

bool SegmentDeclarations::has(const StreamId& stream, ChannelId channel) const {
  const auto known = channels_.find(stream);
  return known != channels_.end() && known->second.contains(channel.value);
}

bool SegmentDeclarations::has(const Declaration& declaration) const {
  if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration))
    return has((*stream)->stream);
  const ChannelDescriptor& channel = *std::get<ChannelDescriptorPtr>(declaration);
  return has(channel.stream, channel.id);
}

void SegmentDeclarations::add(const Declaration& declaration) {
  if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration)) {
    channels_[(*stream)->stream];
    return;
  }
  const ChannelDescriptor& channel = *std::get<ChannelDescriptorPtr>(declaration);
  channels_[channel.stream].insert(channel.id.value);
}

void SegmentDeclarations::add(SegmentDeclarations&& later) {
  for (auto& [stream, channels] : later.channels_)
    channels_[stream].merge(channels);
  if (later.source_)
    source_ = std::move(later.source_);
}

std::expected<SegmentWriter, WriteFailure>
SegmentWriter::create(FileSystem& files, const std::filesystem::path& directory,
                      const SegmentHeader& header) {
  const std::filesystem::path path = directory / segment_name(header.number);
  const std::filesystem::path temporary = path.string() + unfinished_end;
  auto file = files.open(temporary, FileSystem::Mode::create);
  if (!file)
    return write_failed(file.error());
  const EncodedSegmentHeader encoded = encode(header);
  const std::string_view parts[] = {encoded.bytes};
  if (const auto written = (*file)->write(0, parts); !written) {
    (void)files.remove(temporary); // opening the archive removes it as well
    return write_failed(written.error());
  }
  // A file that has a segment's name has a segment's header, whatever happens.
  if (auto synced = sync(**file); !synced)
    return std::unexpected(std::move(synced.error()));
  if (const auto renamed = files.rename(temporary, path); !renamed)
    return write_failed(renamed.error());
  if (auto synced = sync_directory(files, directory); !synced)
    return std::unexpected(std::move(synced.error()));
  // A file that is open keeps the name that it was opened by, and errors tell it.
  file = files.open(path, FileSystem::Mode::update);
  if (!file)
    return write_failed(file.error());
  return SegmentWriter(files, path, std::move(*file), header,
                       {segment_header_bytes, header.first_sequence, encoded.checksum});
}

std::expected<void, WriteFailure> SegmentWriter::make_durable(FileSystem& files,
                                                              const std::filesystem::path& path,
                                                              std::uint64_t durable) {
  const auto file = files.open(path, FileSystem::Mode::update);
  if (!file && file.error().is(std::errc::permission_denied))
    return {};
  if (!file)
    return write_failed(file.error());
  const auto size = (*file)->size();
  if (!size)
    return write_failed(size.error());
  std::string piece;
  for (std::uint64_t at = durable; at < *size; at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(1U << 20U, *size - at));
    const auto count = (*file)->read(at, piece);
    if (!count)
      return write_failed(count.error());
    piece.resize(*count);
    if (piece.empty())
      break;
    const std::string_view parts[] = {piece};
    if (const auto written = (*file)->write(at, parts); !written)
      return write_failed(written.error());
  }
  return sync(**file);
}

std::expected<SegmentWriter, WriteFailure>
SegmentWriter::resume(FileSystem& files, const SegmentFile& segment,
                      const std::vector<IndexEntry>& entries, SegmentDeclarations declarations) {
  auto file = files.open(segment.path(), FileSystem::Mode::update);
  if (!file)
    return write_failed(file.error());
  const BlockPlace end = entries.empty() ? segment.begin() : behind(entries.back());
  SegmentWriter writer(files, segment.path(), std::move(*file), segment.header(), end);
  writer.declarations_ = std::move(declarations);
  for (const IndexEntry& entry : entries) {
    // As they are in the file, which has just been checked.
    std::string head(block_header_bytes + entry.header.directory_bytes, '\0');
    const auto count = writer.file_->read(entry.offset, head);
    if (!count)
      return write_failed(count.error());
    const std::string_view bytes = head;
    writer.index_.add(entry.offset, bytes.substr(0, block_header_bytes),
                      bytes.substr(block_header_bytes));
  }
  if (const auto cut = writer.file_->truncate(end.offset); !cut)
    return write_failed(cut.error());
  return writer;
}

std::unexpected<WriteFailure> SegmentWriter::cut_back(const FileError& error) {
  (void)file_->truncate(end_.offset);
  return write_failed(error);
}

std::expected<void, WriteFailure> SegmentWriter::commit(std::vector<UnplacedBlock>& blocks,
                                                        SegmentDeclarations said) {
  std::vector<std::string> headers;
  headers.reserve(blocks.size());
  std::vector<std::string_view> parts;
  parts.reserve(3 * blocks.size());
  BlockPlace place = end_;
  for (UnplacedBlock& block : blocks) {
    block.place(place.sequence, place.checksum);
    headers.push_back(block.encoded_header());
    parts.insert(parts.end(), {headers.back(), block.directory, block.body});
    place = {place.offset + block.size(), block.header.end_sequence(), block.header.checksum};
  }
  // Nothing can fail once the blocks are durable: they would be there and nobody would know.
  std::uint64_t offset = end_.offset;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    index_.add(offset, headers[i], blocks[i].directory);
    offset += blocks[i].size();
  }
  declarations_.add(std::move(said));
  if (const auto written = file_->write(end_.offset, parts); !written)
    return cut_back(written.error());
  if (auto synced = sync(*file_); !synced)
    return synced;
  end_ = place;
  return {};
}

std::expected<std::uint64_t, WriteFailure> SegmentWriter::seal(Compressor& compressor) {
  UnplacedBlock footer = index_.finish(compressor);
  footer.place(end_.sequence, end_.checksum);
  const std::string header = footer.encoded_header();
  const std::string trailer = encode(Trailer{end_.offset, end_.sequence});
  const std::string_view parts[] = {header, footer.body, trailer};
  if (const auto written = file_->write(end_.offset, parts); !written)
    return cut_back(written.error());
  if (auto synced = sync(*file_); !synced)
    return std::unexpected(std::move(synced.error()));
  if (const auto changed = files_->make_read_only(path_); !changed)
    return write_failed(changed.error());
  return end_.offset + footer.size() + trailer.size();
}

} // namespace datastream
