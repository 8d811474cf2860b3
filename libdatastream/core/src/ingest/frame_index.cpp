#include <datastream/ingest/detail/frame_index.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace datastream::detail {
namespace {

constexpr unsigned group_bits = 6;
static_assert(1U << group_bits == FrameGroup::width);

// What the heap and the map add to what they are asked for.
constexpr std::size_t heap_bytes = 8;
constexpr std::size_t map_node_bytes = 4 * sizeof(void*);

constexpr unsigned bit_of(std::uint64_t position) {
  return position % FrameGroup::width;
}

constexpr unsigned group_number(std::uint64_t position) {
  return position >> group_bits & (FrameGroup::width - 1);
}

constexpr std::uint64_t group_key(std::uint64_t position) {
  return position >> group_bits;
}

constexpr std::uint64_t chunk_key(std::uint64_t position) {
  return position >> FrameChunk::position_bits;
}

/// Most groups fill up in the end, so room grows fast; a group that stays sparse has little.
constexpr std::size_t room_step(std::size_t frames) {
  return frames <= 1 ? 1 : frames <= 4 ? 4 : frames <= 16 ? 16 : FrameGroup::width;
}

std::size_t entries_bytes(const FrameGroup& group) {
  return group.capacity() * sizeof(StoredEntry) + heap_bytes;
}

} // namespace

FrameGroup::FrameGroup(unsigned number, std::size_t room)
    : entries_(std::make_unique_for_overwrite<StoredEntry[]>(room_step(room))),
      capacity_(static_cast<std::uint8_t>(room_step(room))),
      number_(static_cast<std::uint8_t>(number)) {}

void FrameGroup::reserve(std::size_t more) {
  if (size_ + more <= capacity_)
    return;
  const std::size_t room = room_step(size_ + more);
  auto entries = std::make_unique_for_overwrite<StoredEntry[]>(room);
  const StoredEntry* packed = entries_.get();
  if (room < width)
    std::copy_n(packed, size_, entries.get());
  else
    for (std::uint64_t rest = present_; rest != 0; rest &= rest - 1)
      entries[static_cast<unsigned>(std::countr_zero(rest))] = *packed++;
  entries_ = std::move(entries);
  capacity_ = static_cast<std::uint8_t>(room);
}

void FrameGroup::insert(unsigned bit, StoredEntry entry) noexcept {
  assert(!full() && !contains(bit));
  StoredEntry* place = this->entry(bit);
  if (!spread())
    std::copy_backward(place, entries_.get() + size_, entries_.get() + size_ + 1);
  *place = entry;
  ++size_;
  present_ |= std::uint64_t{1} << bit;
}

StoredRun FrameGroup::insert(std::span<const FrameHeader> headers, const char* data,
                             std::uint64_t floor) noexcept {
  const std::uint64_t key = group_key(headers.front().position.value);
  const std::uint64_t before = present_;
  StoredRun run;
  if (spread()) {
    // Entries are bytes that might lie anywhere, so what they might overwrite is kept in locals.
    StoredEntry* const slots = entries_.get();
    std::uint64_t present = present_;
    for (const FrameHeader& header : headers) {
      const std::uint64_t position = header.position.value;
      const std::uint64_t mask = std::uint64_t{1} << bit_of(position);
      if (group_key(position) != key || (present & mask) != 0 || position < floor)
        break;
      slots[bit_of(position)] = {data + header.offset, header.length, header.channel.value};
      present |= mask;
      run.bytes += header.length;
      ++run.frames;
    }
    present_ = present;
    size_ = static_cast<std::uint8_t>(size_ + run.frames);
  } else {
    for (const FrameHeader& header : headers) {
      const std::uint64_t position = header.position.value;
      if (group_key(position) != key || contains(bit_of(position)) || position < floor || full())
        break;
      insert(bit_of(position), {data + header.offset, header.length, header.channel.value});
      run.bytes += header.length;
      ++run.frames;
    }
  }
  if (run.frames != 0) {
    const std::uint64_t added = present_ ^ before;
    const std::uint64_t base = key << group_bits;
    run.lowest = {base + static_cast<unsigned>(std::countr_zero(added))};
    run.highest = {base + static_cast<unsigned>(std::bit_width(added) - 1)};
  }
  return run;
}

void FrameGroup::remove_lowest() noexcept {
  if (!spread())
    std::copy(entries_.get() + 1, entries_.get() + size_, entries_.get());
  present_ &= present_ - 1;
  --size_;
}

std::optional<std::uint64_t> FrameIndex::first() const noexcept {
  if (chunks_.empty())
    return std::nullopt;
  const auto& [key, chunk] = *chunks_.begin();
  const FrameGroup& group = chunk.groups.front();
  return key << FrameChunk::position_bits | std::uint64_t{group.number()} << group_bits |
         static_cast<unsigned>(std::countr_zero(group.present()));
}

std::optional<std::uint64_t> FrameIndex::last() const noexcept {
  if (chunks_.empty())
    return std::nullopt;
  const auto& [key, chunk] = *chunks_.rbegin();
  const FrameGroup& group = chunk.groups.back();
  return key << FrameChunk::position_bits | std::uint64_t{group.number()} << group_bits |
         static_cast<unsigned>(std::bit_width(group.present()) - 1);
}

const StoredEntry* FrameIndex::find(std::uint64_t position) const noexcept {
  const auto chunk = chunks_.find(chunk_key(position));
  if (chunk == chunks_.end())
    return nullptr;
  const FrameGroup* group = chunk->second.find(group_number(position));
  return group && group->contains(bit_of(position)) ? group->entry(bit_of(position)) : nullptr;
}

StoredEntry* FrameIndex::find(std::uint64_t position) noexcept {
  FrameGroup* group = find_group(position);
  return group && group->contains(bit_of(position)) ? group->entry(bit_of(position)) : nullptr;
}

FrameGroup* FrameIndex::find_group(std::uint64_t position) noexcept {
  if (recent_group_ && recent_group_key_ == group_key(position))
    return recent_group_;
  if (!recent_chunk_ || recent_chunk_key_ != chunk_key(position)) {
    const auto chunk = chunks_.find(chunk_key(position));
    if (chunk == chunks_.end())
      return nullptr;
    recent_chunk_ = &chunk->second;
    recent_chunk_key_ = chunk->first;
  }
  const unsigned number = group_number(position);
  if ((recent_chunk_->present >> number & 1U) == 0)
    return nullptr;
  recent_group_ = &recent_chunk_->groups[rank(recent_chunk_->present, number)];
  recent_group_key_ = group_key(position);
  return recent_group_;
}

FrameGroup& FrameIndex::create_group(std::uint64_t position, std::size_t room) {
  const unsigned number = group_number(position);
  const std::uint64_t key = chunk_key(position);
  FrameGroup group(number, room);
  const std::size_t group_bytes = entries_bytes(group);

  if (!recent_chunk_ || recent_chunk_key_ != key) {
    const auto next = chunks_.lower_bound(key);
    if (next == chunks_.end() || next->first != key) {
      FrameChunk chunk;
      chunk.present = std::uint64_t{1} << number;
      chunk.groups.push_back(std::move(group));
      recent_chunk_ = &chunks_.emplace_hint(next, key, std::move(chunk))->second;
      recent_chunk_key_ = key;
      memory_bytes_ += sizeof(ChunkMap::value_type) + map_node_bytes + 2 * heap_bytes +
                       sizeof(FrameGroup) + group_bytes;
      recent_group_ = &recent_chunk_->groups.front();
      recent_group_key_ = group_key(position);
      return *recent_group_;
    }
    recent_chunk_ = &next->second;
    recent_chunk_key_ = key;
  }

  auto& groups = recent_chunk_->groups;
  const std::size_t capacity = groups.capacity();
  const auto place = groups.begin() + rank(recent_chunk_->present, number);
  recent_group_ = &*groups.insert(place, std::move(group));
  recent_group_key_ = group_key(position);
  recent_chunk_->present |= std::uint64_t{1} << number;
  memory_bytes_ += (groups.capacity() - capacity) * sizeof(FrameGroup) + group_bytes;
  return *recent_group_;
}

void FrameIndex::make_room(FrameGroup& group, std::size_t more) {
  const std::size_t before = entries_bytes(group);
  group.reserve(more);
  memory_bytes_ += entries_bytes(group) - before;
}

void FrameIndex::insert(std::uint64_t position, StoredEntry entry) {
  FrameGroup* group = find_group(position);
  if (!group)
    group = &create_group(position, 1);
  else if (group->full())
    make_room(*group, 1);
  group->insert(bit_of(position), entry);
}

StoredRun FrameIndex::insert_run(std::span<const FrameHeader> headers, const char* data,
                                 std::uint64_t floor) {
  const std::uint64_t position = headers.front().position.value;
  const unsigned bit = bit_of(position);
  FrameGroup* group = find_group(position);
  if (group && group->contains(bit))
    return {};
  if (!group || group->full()) {
    // A run without holes fills the rest of the group, which the header at its end tells.
    std::size_t expected = std::min<std::size_t>(headers.size(), FrameGroup::width - bit);
    if (headers[expected - 1].position.value != position + (expected - 1))
      expected = 1;
    if (!group)
      group = &create_group(position, expected);
    else
      make_room(*group, expected);
  }
  return group->insert(headers, data, floor);
}

FrameIndex::Removed FrameIndex::evict_lowest() noexcept {
  FrameGroup& group = chunks_.begin()->second.groups.front();
  const std::uint64_t position = *first();
  const Removed removed{position, *group.entry(bit_of(position))};
  group.remove_lowest();
  if (group.present() == 0)
    remove_first_group();
  return removed;
}

void FrameIndex::remove_first_group() noexcept {
  FrameChunk& chunk = chunks_.begin()->second;
  memory_bytes_ -= entries_bytes(chunk.groups.front());
  recent_group_ = nullptr; // the groups move
  chunk.groups.erase(chunk.groups.begin());
  chunk.present &= chunk.present - 1;
  if (chunk.present != 0)
    return;
  memory_bytes_ -= sizeof(ChunkMap::value_type) + map_node_bytes + 2 * heap_bytes +
                   chunk.groups.capacity() * sizeof(FrameGroup);
  if (recent_chunk_ == &chunk)
    recent_chunk_ = nullptr;
  chunks_.erase(chunks_.begin());
}

} // namespace datastream::detail
