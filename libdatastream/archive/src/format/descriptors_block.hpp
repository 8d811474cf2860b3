#pragma once
/// The block that says what numbers mean: descriptors of streams and channels.

#include "block.hpp"

#include <datastream/model/descriptor.hpp>

#include <string>
#include <vector>

namespace datastream::format {

/// Whether every text in it stays within the format's bounds.
bool fits(const Declaration& declaration);

/// One declaration as bytes: an entry of a descriptors block, and of the index.
void encode(std::string& out, const Declaration& declaration);

/// Collects declarations for one block. Throws `std::bad_alloc`.
class DescriptorsBlockBuilder {
public:
  bool has_room(const Declaration& declaration) const;
  void add(const Declaration& declaration);
  bool empty() const noexcept { return count_ == 0; }
  UnplacedBlock finish(Compressor& compressor);

private:
  std::string body_;
  std::uint32_t count_ = 0;
};

/// Throws `std::bad_alloc`.
Decoded<Declaration> decode_declaration(std::string_view bytes);
Decoded<std::vector<Declaration>> decode_descriptors(const BlockHeader& header,
                                                     const BlockPtr& body);

} // namespace datastream::format
