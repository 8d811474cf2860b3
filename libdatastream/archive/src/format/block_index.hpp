#pragma once
/// What is known of a segment's blocks without reading their bodies; and the footer, which is that.

#include "block.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace datastream::format {

/// One block of a segment.
struct IndexEntry {
  std::uint64_t offset = 0; ///< of its header, in the file
  BlockHeader header;
  BlockDirectory directory;
};

/// Collects the entries of a footer while blocks are written.
class FooterBuilder {
public:
  void add(std::uint64_t offset, std::string_view header, std::string_view directory);
  std::size_t bytes() const noexcept { return body_.size(); }
  std::uint32_t blocks() const noexcept { return count_; }
  UnplacedBlock finish(Compressor& compressor);

private:
  std::string body_;
  std::uint32_t count_ = 0;
};

/// Reads a footer's body. `end`: the offset of the footer, before which all blocks lie. Throws
/// `std::bad_alloc`.
Decoded<std::vector<IndexEntry>> decode_footer(const BlockHeader& header, const BlockPtr& body,
                                               std::uint64_t end);

} // namespace datastream::format
