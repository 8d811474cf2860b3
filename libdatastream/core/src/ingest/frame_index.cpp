#include <datastream/ingest/detail/frame_index.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace datastream::detail {
namespace {

// What the heap and the map add to what they are asked for.
constexpr std::size_t heap_bytes = 8;
constexpr std::size_t map_node_bytes = 4 * sizeof(void*);

/// Most groups fill up in the end, so room grows fast; a group that stays sparse has little.
constexpr std::size_t room_step(std::size_t frames) {
  return frames <= 1 ? 1 : frames <= 4 ? 4 : frames <= 16 ? 16 : FrameGroup::width;
}

} // namespace

FrameGroup::FrameGroup(unsigned number, std::size_t room)
    : entries_(std::make_unique_for_overwrite<StoredEntry[]>(room_step(room))),
      capacity_(static_cast<std::uint8_t>(room_step(room))),
      number_(static_cast<std::uint8_t>(number)) {
  // Slots are not written in the order of their addresses when frames overtake each other.
  constexpr std::size_t entries_a_line = 64 / sizeof(StoredEntry);
  for (std::size_t entry = 0; entry < capacity_; entry += entries_a_line)
    __builtin_prefetch(&entries_[entry], 1);
}

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

void FrameGroup::open_gap(unsigned bit) noexcept {
  std::copy_backward(entry(bit), entries_.get() + size_, entries_.get() + size_ + 1);
}

StoredRun FrameGroup::insert(std::span<const FrameHeader> headers, const char* data,
                             std::uint64_t floor) noexcept {
  const std::uint64_t base = headers.front().position.value & ~std::uint64_t{width - 1};
  StoredRun run;
  if (spread()) {
    // Entries are bytes that might lie anywhere, so what they might overwrite is kept in locals.
    StoredEntry* const slots = entries_.get();
    std::uint64_t present = present_;
    for (const FrameHeader& header : headers) {
      const std::uint64_t position = header.position.value;
      const std::uint64_t mask = std::uint64_t{1} << bit_of(position);
      if (position - base >= width || (present & mask) != 0 || position < floor)
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
      if (position - base >= width || contains(bit_of(position)) || position < floor || full())
        break;
      insert(bit_of(position), {data + header.offset, header.length, header.channel.value});
      run.bytes += header.length;
      ++run.frames;
    }
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
  return base_of(key, group.number()) + static_cast<unsigned>(std::countr_zero(group.present()));
}

std::optional<std::uint64_t> FrameIndex::last() const noexcept {
  if (chunks_.empty())
    return std::nullopt;
  const auto& [key, chunk] = *chunks_.rbegin();
  const FrameGroup& group = chunk.groups.back();
  return base_of(key, group.number()) + static_cast<unsigned>(std::bit_width(group.present()) - 1);
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

FrameChunk* FrameIndex::look_up(std::uint64_t key) noexcept {
  const auto chunk = chunks_.find(key);
  if (chunk == chunks_.end())
    return nullptr;
  known_[key & known_mask_] = {key, &chunk->second};
  return &chunk->second;
}

FrameGroup* FrameIndex::look_up_group(std::uint64_t position) noexcept {
  FrameChunk* const chunk = look_up(chunk_key(position));
  return chunk ? chunk->find(group_number(position)) : nullptr;
}

FrameGroup& FrameIndex::make_room(FrameGroup* group, std::uint64_t position, std::size_t more) {
  if (group) {
    const std::size_t before = group->capacity();
    group->reserve(more);
    room_ += group->capacity() - before;
    return *group;
  }
  // Where half of all room is in use, the new group will probably fill up like the others; if not,
  // this much waste is allowed.
  if (2 * size_ >= room_ + FrameGroup::width)
    more = FrameGroup::width;
  return add_group(position, FrameGroup(group_number(position), more));
}

FrameGroup& FrameIndex::add_group(std::uint64_t position, FrameGroup group) {
  const std::uint64_t key = chunk_key(position);
  const std::size_t room = group.capacity();
  FrameGroup* added = nullptr;
  if (FrameChunk* const chunk = look_up(key)) {
    auto& groups = chunk->groups;
    const std::size_t capacity = groups.capacity();
    const auto place = groups.begin() + rank(chunk->present, group.number());
    added = &*groups.insert(place, std::move(group));
    chunk->present |= std::uint64_t{1} << added->number();
    node_bytes_ += (groups.capacity() - capacity) * sizeof(FrameGroup);
  } else {
    added = &add_chunk(key, std::move(group)).groups.front();
  }
  room_ += room;
  node_bytes_ += heap_bytes;
  return *added;
}

FrameChunk& FrameIndex::add_chunk(std::uint64_t key, FrameGroup first) {
  if (chunks_.size() > known_mask_) {
    const std::uint64_t mask = 2 * known_mask_ + 1;
    auto known = std::make_unique<KnownChunk[]>(mask + 1);
    for (auto& [known_key, known_chunk] : chunks_)
      known[known_key & mask] = {known_key, &known_chunk};
    known_ = std::move(known);
    known_mask_ = mask;
  }
  FrameChunk chunk;
  chunk.present = std::uint64_t{1} << first.number();
  chunk.groups.push_back(std::move(first));
  FrameChunk& added = chunks_.try_emplace(key, std::move(chunk)).first->second;
  known_[key & known_mask_] = {key, &added};
  node_bytes_ += sizeof(ChunkMap::value_type) + map_node_bytes + 2 * heap_bytes +
                 added.groups.capacity() * sizeof(FrameGroup);
  return added;
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
    group = &make_room(group, position, expected);
  }
  const StoredRun run = group->insert(headers, data, floor);
  size_ += run.frames;
  return run;
}

FrameIndex::Removed FrameIndex::evict_lowest() noexcept {
  FrameGroup& group = chunks_.begin()->second.groups.front();
  const std::uint64_t position = *first();
  const Removed removed{position, *group.entry(bit_of(position))};
  group.remove_lowest();
  --size_;
  if (group.present() == 0)
    remove_first_group();
  return removed;
}

void FrameIndex::remove_first_group() noexcept {
  const auto first = chunks_.begin();
  FrameChunk& chunk = first->second;
  room_ -= chunk.groups.front().capacity();
  node_bytes_ -= heap_bytes;
  chunk.groups.erase(chunk.groups.begin());
  chunk.present &= chunk.present - 1;
  if (chunk.present != 0)
    return;
  node_bytes_ -= sizeof(ChunkMap::value_type) + map_node_bytes + 2 * heap_bytes +
                 chunk.groups.capacity() * sizeof(FrameGroup);
  KnownChunk& known = known_[first->first & known_mask_];
  if (known.chunk == &chunk)
    known = {};
  chunks_.erase(first);
}

std::size_t FrameIndex::memory_bytes() const noexcept {
  return node_bytes_ + room_ * sizeof(StoredEntry) + (known_mask_ + 1) * sizeof(KnownChunk) +
         heap_bytes;
}

} // namespace datastream::detail
