#include "segment.hpp"

#include <utility>

namespace datastream {

using namespace format;

namespace {

/// About what an entry takes: its directory takes thrice the memory that it takes in the file.
std::size_t memory_of(const IndexEntry& entry) {
  return sizeof entry + std::size_t{3} * entry.header.directory_bytes;
}

} // namespace

void SegmentIndex::append(IndexEntry entry) {
  const BlockPlace end = behind(entry);
  const std::size_t memory = memory_of(entry);
  entries_.push_back(std::move(entry));
  end_ = end;
  memory_ += memory;
}

/// False: the blocks have to be walked.
bool SegmentIndex::adopt_footer(const SegmentFile& file, std::uint64_t size) {
  auto sealed = file.read_footer(size);
  if (!sealed || !*sealed)
    return false;
  std::vector<IndexEntry>& entries = (*sealed)->entries;
  const std::size_t known = entries_.size();
  if (entries.size() < known || (known != 0 && entries[known - 1].header != entries_.back().header))
    return false;
  for (std::size_t i = known; i < entries.size(); ++i)
    append(std::move(entries[i]));
  sealed_ = true;
  return true;
}

void SegmentIndex::extend(const SegmentFile& file, std::optional<std::uint64_t> limit) {
  const std::lock_guard lock(mutex_);
  if (is_known(limit))
    return;
  stop_.reset();
  if (!limit) {
    const auto size = file.size();
    if (!size) {
      stop_ = size.error();
      return;
    }
    limit = *size;
    if (adopt_footer(file, *limit))
      return;
  } else if (entries_.empty() && adopt_footer(file, *limit)) {
    return;
  }
  while (end_.offset < *limit) {
    auto entry = file.read_entry(end_, *limit);
    if (!entry) {
      // If it is the footer that is damaged, all blocks are known.
      const auto trailer = file.read_trailer(*limit);
      if (trailer && *trailer && (*trailer)->footer_offset == end_.offset &&
          (*trailer)->end_sequence == end_.sequence)
        sealed_ = true;
      else
        stop_ = std::move(entry.error());
      return;
    }
    if (entry->header.kind == BlockKind::footer) {
      sealed_ = true;
      return;
    }
    append(std::move(*entry));
  }
}

bool SegmentIndex::reaches(std::optional<std::uint64_t> limit) const {
  const std::lock_guard lock(mutex_);
  return is_known(limit);
}

std::size_t SegmentIndex::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

const IndexEntry& SegmentIndex::entry(std::size_t ordinal) const {
  const std::lock_guard lock(mutex_);
  return entries_[ordinal];
}

SegmentIndex::State SegmentIndex::state() const {
  const std::lock_guard lock(mutex_);
  return {end_, stop_, sealed_, entries_.size(), memory_};
}

std::expected<std::shared_ptr<const SegmentFile>, ArchiveError> Segment::open() {
  if (auto file = file_.lock())
    return file;
  auto opened = SegmentFile::open(files_, path_);
  if (!opened)
    return std::unexpected(opened.error());
  const SegmentHeader& header = opened->header();
  if (header.archive != archive_)
    return std::unexpected(damaged(path_, 0, {"this is a segment of another archive"}));
  if (header.number != number_ || header.generation != 0)
    return std::unexpected(damaged(path_, 0, {"this segment has the name of another one"}));
  if (header_ && *header_ != header)
    return std::unexpected(damaged(path_, 0, {"this is another segment than it was"}));
  header_ = header;
  auto file = std::make_shared<const SegmentFile>(std::move(*opened));
  file_ = file;
  return file;
}

std::expected<SegmentHeader, ArchiveError> Segment::header() {
  const std::lock_guard lock(mutex_);
  if (!header_)
    if (const auto file = open(); !file)
      return std::unexpected(file.error());
  return *header_;
}

std::expected<std::shared_ptr<const SegmentFile>, ArchiveError> Segment::file() {
  const std::lock_guard lock(mutex_);
  return open();
}

std::expected<std::shared_ptr<const SegmentIndex>, ArchiveError>
Segment::index(std::optional<std::uint64_t> limit) {
  std::shared_ptr<const SegmentFile> file;
  std::shared_ptr<SegmentIndex> index;
  {
    const std::lock_guard lock(mutex_);
    index = index_.lock();
    if (index && index->reaches(limit))
      return index;
    auto opened = open();
    if (!opened)
      return std::unexpected(opened.error());
    file = std::move(*opened);
    if (!index)
      index_ = index = std::make_shared<SegmentIndex>(file->begin());
  }
  index->extend(*file, limit);
  return index;
}

} // namespace datastream
