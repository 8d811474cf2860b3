#include <datastream/model/block.hpp>

#include <new>

namespace datastream {
namespace {

/// Header and bytes in one allocation.
struct PlainBlock final : Block {
  explicit PlainBlock(std::size_t bytes) noexcept
      : Block(reinterpret_cast<char*>(this + 1), bytes, &dispose) {}
  static void dispose(Block* block) noexcept {
    auto* self = static_cast<PlainBlock*>(block);
    self->~PlainBlock();
    ::operator delete(self);
  }
};

struct StringBlock final : Block {
  explicit StringBlock(std::string&& source) noexcept
      : Block(nullptr, source.size(), &dispose), bytes(std::move(source)) {
    point_to(bytes.data());
  }
  static void dispose(Block* block) noexcept { delete static_cast<StringBlock*>(block); }
  std::string bytes;
};

} // namespace

BlockPtr allocate_block(std::size_t bytes) noexcept {
  void* memory = ::operator new(sizeof(PlainBlock) + bytes, std::nothrow);
  return memory ? BlockPtr::adopt(new (memory) PlainBlock(bytes)) : BlockPtr();
}

BlockPtr adopt_string(std::string&& bytes) noexcept {
  return BlockPtr::adopt(new (std::nothrow) StringBlock(std::move(bytes)));
}

} // namespace datastream
