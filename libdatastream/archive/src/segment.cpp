#include "segment.hpp"

#include <algorithm>
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
  auto next = std::ranges::lower_bound(entries, end_.offset, {}, &IndexEntry::offset);
  const BlockPlace place =
      next == entries.end()
          ? (*sealed)->end
          : BlockPlace{next->offset, next->header.first_sequence, next->header.previous};
  if (place != end_)
    return false;
  for (; next != entries.end(); ++next)
    append(std::move(*next));
  sealed_ = true;
  return true;
}

void SegmentIndex::extend(const SegmentFile& file, const SegmentEnd& end) {
  const std::lock_guard lock(mutex_);
  if (is_known(end))
    return;
  stop_.reset();
  std::uint64_t limit = 0;
  if (end.offset) {
    limit = *end.offset;
  } else {
    const auto size = file.size();
    if (!size) {
      stop_ = size.error();
      return;
    }
    limit = *size;
  }
  if ((!end.offset || entries_.empty()) && adopt_footer(file, limit))
    return;
  while (end_.offset < limit) {
    auto entry = file.read_entry(end_, limit);
    if (!entry) {
      if (!pass_damage(file, limit, end, std::move(entry.error())))
        return;
      continue;
    }
    if (entry->header.kind == BlockKind::footer) {
      sealed_ = true;
      return;
    }
    // What was never acknowledged does not exist: the next segment has its sequences.
    if (!end.offset && entry->header.end_sequence() > end.sequence)
      return;
    append(std::move(*entry));
  }
}

/// Goes on behind a block that is damaged; false: there is nothing more.
bool SegmentIndex::pass_damage(const SegmentFile& file, std::uint64_t limit, const SegmentEnd& end,
                               ArchiveError why) {
  // If it is the footer that is damaged, all blocks are known.
  const auto trailer = file.read_trailer(limit);
  if (trailer && *trailer && (*trailer)->footer_offset == end_.offset &&
      (*trailer)->end_sequence == end_.sequence) {
    sealed_ = true;
    return false;
  }
  if (why.kind == ArchiveError::Kind::damaged && searched_ != limit) {
    auto found = find_chain(file, end_, limit, end);
    if (found && *found) {
      gaps_.push_back(
          {entries_.size(), costing(std::move(why), end_.sequence, (*found)->sequence)});
      end_ = **found;
      return true;
    }
    if (found)
      searched_ = limit;
    else
      why = std::move(found.error());
  }
  stop_ = std::move(why);
  return false;
}

bool SegmentIndex::reaches(const SegmentEnd& end) const {
  const std::lock_guard lock(mutex_);
  return is_known(end);
}

std::vector<SegmentIndex::Gap> SegmentIndex::gaps() const {
  const std::lock_guard lock(mutex_);
  return gaps_;
}

std::optional<SegmentIndex::Gap> SegmentIndex::gap_before(std::size_t ordinal) const {
  const std::lock_guard lock(mutex_);
  const auto gap = std::ranges::lower_bound(gaps_, ordinal, {}, &Gap::ordinal);
  return gap != gaps_.end() && gap->ordinal == ordinal ? std::optional(*gap) : std::nullopt;
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
Segment::index(const SegmentEnd& end) {
  std::shared_ptr<const SegmentFile> file;
  std::shared_ptr<SegmentIndex> index;
  {
    const std::lock_guard lock(mutex_);
    index = index_.lock();
    if (index && index->reaches(end))
      return index;
    auto opened = open();
    if (!opened)
      return std::unexpected(opened.error());
    file = std::move(*opened);
    if (!index)
      index_ = index = std::make_shared<SegmentIndex>(file->begin());
  }
  index->extend(*file, end);
  return index;
}

} // namespace datastream
