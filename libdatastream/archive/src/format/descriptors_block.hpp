#pragma once
/// The block that says what numbers mean, and how far streams reach.

#include "block.hpp"

#include <datastream/model/descriptor.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace datastream::format {

/// What is said beside frames.
struct Descriptors {
  std::vector<Declaration> declarations;
  std::vector<StreamStart> starts;
  std::vector<StreamEnd> ends;
  /// The last one that is said of the archive, which is what counts.
  std::optional<std::string> source{};

  /// Nothing is said of streams.
  bool empty() const noexcept { return declarations.empty() && starts.empty() && ends.empty(); }
};

/// Whether every text in it stays within the format's bounds.
bool fits(const Declaration& declaration);
bool fits(const StreamId& stream);

/// One declaration as bytes: an entry of a descriptors block, and of the index.
void encode(std::string& out, const Declaration& declaration);

/// Collects entries for one block. Throws `std::bad_alloc`.
class DescriptorsBlockBuilder {
public:
  /// For one more entry, whatever it is.
  bool has_room() const noexcept;
  void add(const Declaration& declaration);
  void add(const StreamStart& start);
  void add(const StreamEnd& end);
  void add_source(std::string_view source);
  bool empty() const noexcept { return count_ == 0; }
  UnplacedBlock finish(Compressor& compressor);

private:
  void begin_entry();

  std::string body_;
  std::uint32_t count_ = 0;
};

/// Throws `std::bad_alloc`.
Decoded<Declaration> decode_declaration(std::string_view bytes);
Decoded<Descriptors> decode_descriptors(const BlockHeader& header, const BlockPtr& body);

} // namespace datastream::format
