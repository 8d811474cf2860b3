#include "metadata.hpp"

#include "format/bytes.hpp"
#include "format/descriptors_block.hpp"

#include <datastream/detail/signals_blocked.hpp>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <bit>
#include <cstdarg>
#include <memory>
#include <new>
#include <utility>

namespace datastream {

using format::ByteReader;
using format::put;

namespace {

/// One letter begins the keys of each kind.
constexpr std::string_view archive_key = "a";
constexpr std::string_view cursor_key = "c";
constexpr char declaration_prefix = 'd';
constexpr char positions_prefix = 'p';
constexpr char segment_prefix = 's';

constexpr std::size_t rocksdb_batch_header_bytes = 12;

/// Numbers in keys sort as they count.
template <class T>
void put_sorted(std::string& key, T value) {
  put(key, std::byteswap(value));
}

std::string key_of(char prefix, const StreamId& stream) {
  std::string key(1, prefix);
  put_sorted(key, static_cast<std::uint32_t>(stream.node.value.size()));
  key += stream.node.value;
  put_sorted(key, stream.life.value);
  return key;
}

std::string segment_key(std::uint64_t number) {
  std::string key(1, segment_prefix);
  put_sorted(key, number);
  return key;
}

rocksdb::Slice slice(std::string_view text) {
  return {text.data(), text.size()};
}

ArchiveError failed(const std::filesystem::path& directory, const rocksdb::Status& status) {
  if (status.IsMemoryLimit())
    throw std::bad_alloc();
  using Kind = ArchiveError::Kind;
  const std::string what = "index " + directory.string() + ": " + status.ToString();
  if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kNoSpace)
    return {Kind::no_room, what, {}};
  if (status.IsCorruption() || status.IsPathNotFound()) // or one of its files is gone
    return {Kind::damaged,
            what + "; make it anew with: datastream-archive reindex " +
                directory.parent_path().string(),
            {}};
  return {Kind::io, what, {}};
}

ArchiveError malformed_entry(const std::filesystem::path& directory) {
  return failed(directory, rocksdb::Status::Corruption("an entry is malformed"));
}

/// RocksDB would keep a file for people, and, where it is built with assertions, as Debian's is,
/// end the process once the disk is too full for that file. Its errors come to us anyway.
class NoLog : public rocksdb::Logger {
public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Options options_for(rocksdb::Env* env) {
  rocksdb::Options options;
  options.create_if_missing = true;
  if (env)
    options.env = env;
  options.paranoid_checks = true;
  // What was not synced may be gone, from some point on; what comes before that point is whole.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.max_bgerror_resume_count = 0; // see the class
  options.write_buffer_size = 8U << 20U;
  options.max_open_files = 256;
  options.max_file_opening_threads = 1; // there are few files, and threads cost more than those
  options.allow_fallocate = false;      // 13 MB for each opening, and most of it never used
  options.max_background_jobs = 1;
  options.compression = rocksdb::kNoCompression;
  options.info_log = std::make_shared<NoLog>();
  return options;
}

} // namespace

Metadata::Metadata(std::filesystem::path directory, std::unique_ptr<rocksdb::DB> db)
    : directory_(std::move(directory)), db_(std::move(db)) {}

Metadata::~Metadata() = default;

std::expected<std::unique_ptr<Metadata>, ArchiveError>
Metadata::open(const std::filesystem::path& directory, rocksdb::Env* env) {
  rocksdb::DB* db = nullptr;
  rocksdb::Status status;
  {
    const detail::SignalsBlocked blocked; // on the threads that it starts
    status = rocksdb::DB::Open(options_for(env), directory.string(), &db);
  }
  if (!status.ok())
    return std::unexpected(failed(directory, status));
  return std::unique_ptr<Metadata>(new Metadata(directory, std::unique_ptr<rocksdb::DB>(db)));
}

std::expected<void, ArchiveError> Metadata::destroy(const std::filesystem::path& directory,
                                                    rocksdb::Env* env) {
  const rocksdb::Status status = rocksdb::DestroyDB(directory.string(), options_for(env));
  if (!status.ok() && !status.IsPathNotFound()) // nothing there is nothing left
    return std::unexpected(failed(directory, status));
  return {};
}

std::expected<std::optional<format::ArchiveId>, ArchiveError> Metadata::archive() const {
  std::string value;
  const rocksdb::Status status = db_->Get({}, slice(archive_key), &value);
  if (status.IsNotFound())
    return std::nullopt;
  if (!status.ok())
    return std::unexpected(failed(directory_, status));
  format::ArchiveId archive{};
  if (value.size() != archive.size())
    return std::unexpected(malformed_entry(directory_));
  value.copy(archive.data(), archive.size());
  return archive;
}

std::expected<std::optional<MetadataCursor>, ArchiveError> Metadata::cursor() const {
  std::string value;
  const rocksdb::Status status = db_->Get({}, slice(cursor_key), &value);
  if (status.IsNotFound())
    return std::nullopt;
  if (!status.ok())
    return std::unexpected(failed(directory_, status));
  ByteReader in(value);
  MetadataCursor cursor;
  cursor.segment = in.take<std::uint64_t>();
  cursor.place.offset = in.take<std::uint64_t>();
  cursor.place.sequence = in.take<std::uint64_t>();
  cursor.place.checksum = in.take<std::uint64_t>();
  if (in.failed() || !in.empty())
    return std::unexpected(malformed_entry(directory_));
  return cursor;
}

std::expected<std::vector<ListedSegment>, ArchiveError> Metadata::segments() const {
  std::vector<ListedSegment> segments;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}));
  for (at->Seek(rocksdb::Slice(&segment_prefix, 1));
       at->Valid() && at->key().starts_with(rocksdb::Slice(&segment_prefix, 1)); at->Next()) {
    ByteReader in(at->value().ToStringView());
    ListedSegment segment;
    segment.number = in.take<std::uint64_t>();
    segment.first_sequence = in.take<std::uint64_t>();
    segment.end_sequence = in.take<std::uint64_t>();
    segment.bytes = in.take<std::uint64_t>();
    if (in.failed() || !in.empty())
      return std::unexpected(malformed_entry(directory_));
    segments.push_back(segment);
  }
  if (!at->status().ok())
    return std::unexpected(failed(directory_, at->status()));
  return segments;
}

std::expected<std::vector<Declaration>, ArchiveError> Metadata::declarations() const {
  std::vector<Declaration> declarations;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}));
  for (at->Seek(rocksdb::Slice(&declaration_prefix, 1));
       at->Valid() && at->key().starts_with(rocksdb::Slice(&declaration_prefix, 1)); at->Next()) {
    auto declaration = format::decode_declaration(at->value().ToStringView());
    if (!declaration)
      return std::unexpected(malformed_entry(directory_));
    declarations.push_back(std::move(*declaration));
  }
  if (!at->status().ok())
    return std::unexpected(failed(directory_, at->status()));
  return declarations;
}

std::expected<PositionPage, ArchiveError> Metadata::positions(const StreamId& stream,
                                                              std::uint64_t page) const {
  std::string key = key_of(positions_prefix, stream);
  put_sorted(key, page);
  std::string value;
  const rocksdb::Status status = db_->Get({}, key, &value);
  PositionPage positions{};
  if (status.IsNotFound())
    return positions;
  if (!status.ok())
    return std::unexpected(failed(directory_, status));
  if (value.size() != sizeof positions)
    return std::unexpected(malformed_entry(directory_));
  value.copy(reinterpret_cast<char*>(positions.data()), sizeof positions);
  return positions;
}

void Metadata::Batch::put_entry(std::string_view key, std::string_view value) {
  format::put_text(entries_, key);
  format::put_text(entries_, value);
}

void Metadata::Batch::set_archive(const format::ArchiveId& archive) {
  put_entry(archive_key, {archive.data(), archive.size()});
}

void Metadata::Batch::set_cursor(const MetadataCursor& cursor) {
  std::string value;
  put(value, cursor.segment);
  put(value, cursor.place.offset);
  put(value, cursor.place.sequence);
  put(value, cursor.place.checksum);
  put_entry(cursor_key, value);
}

void Metadata::Batch::add(const ListedSegment& segment) {
  std::string value;
  put(value, segment.number);
  put(value, segment.first_sequence);
  put(value, segment.end_sequence);
  put(value, segment.bytes);
  put_entry(segment_key(segment.number), value);
}

void Metadata::Batch::add(const Declaration& declaration) {
  const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration);
  // A stream's own comes before its channels, whose ids begin at 0.
  std::string key =
      key_of(declaration_prefix,
             stream ? (*stream)->stream : std::get<ChannelDescriptorPtr>(declaration)->stream);
  if (!stream)
    put_sorted(key, std::get<ChannelDescriptorPtr>(declaration)->id.value);
  std::string value;
  format::encode(value, declaration);
  put_entry(key, value);
}

void Metadata::Batch::set_positions(const StreamId& stream, std::uint64_t page,
                                    const PositionPage& positions) {
  std::string key = key_of(positions_prefix, stream);
  put_sorted(key, page);
  put_entry(key, {reinterpret_cast<const char*>(positions.data()), sizeof positions});
}

std::expected<void, ArchiveError> Metadata::write(const Batch& batch, bool sync) {
  // Two lengths of four bytes are more than RocksDB takes for what it adds to each.
  rocksdb::WriteBatch entries(rocksdb_batch_header_bytes + batch.entries_.size());
  for (ByteReader in(batch.entries_); !in.empty();) {
    const std::string_view key = in.take_text();
    const std::string_view value = in.take_text();
    entries.Put(slice(key), slice(value));
  }
  rocksdb::WriteOptions options;
  options.sync = sync;
  const rocksdb::Status status = db_->Write(options, &entries);
  if (!status.ok())
    return std::unexpected(failed(directory_, status));
  return {};
}

std::expected<void, ArchiveError> Metadata::sync() {
  const rocksdb::Status status = db_->SyncWAL();
  if (!status.ok())
    return std::unexpected(failed(directory_, status));
  return {};
}

} // namespace datastream
