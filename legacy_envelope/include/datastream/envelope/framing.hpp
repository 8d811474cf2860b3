#pragma once
/// Finds envelopes in a stream of bytes, in which each comes after its length.

#include <datastream/defaults.hpp>
#include <datastream/model/block.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace datastream {

/// Cuts what arrives in pieces of any size into envelopes, where they lie: only one that is
/// incomplete at the end of a block is carried over to the next. Memory grows with the bytes that
/// have arrived, never by what a length claims: a block is as large as `chunk_bytes`, or at most
/// twice as large as the incomplete envelope in it.
///
///     EnvelopeFraming framing{envelope_max};
///     for (;;) {
///       const std::size_t bytes = read_some(framing.room());
///       framing.fill(bytes);
///       while (const auto envelope = framing.next())
///         use(*envelope, framing.block());
///       if (framing.over_maximum())
///         break;
///     }
///
/// Thread safety: one owner; others may keep references to blocks.
class EnvelopeFraming {
public:
  /// A block that a batch of ordinary frames fills by more than half, so that it is shared and not
  /// copied.
  static constexpr std::size_t chunk_bytes = defaults::slab_bytes;

  explicit EnvelopeFraming(std::size_t envelope_max = defaults::envelope_bytes_max) noexcept
      : envelope_max_(envelope_max) {}

  /// Where the next bytes go, at least one; what `next` gave out before is then no longer there,
  /// unless somebody shares the block. Empty: there is no memory. Call it when `next` has given all
  /// that there was and the maximum was not exceeded.
  std::span<char> room() noexcept;
  /// So many bytes were written to `room`.
  void fill(std::size_t bytes) noexcept { end_ += bytes; }

  /// The next complete envelope, without its length; it lies in `block()`. Nothing: more bytes are
  /// needed, or the maximum was exceeded.
  std::optional<std::string_view> next() noexcept;
  /// A length was announced that is larger than the maximum. This is final.
  bool over_maximum() const noexcept { return over_maximum_; }

  /// Where the bytes lie. Null before the first `room`.
  const BlockPtr& block() const noexcept { return block_; }
  /// Bytes of an envelope that is not complete, its length included.
  std::size_t incomplete() const noexcept { return end_ - begin_; }

private:
  bool carry_over() noexcept;

  std::size_t envelope_max_;
  BlockPtr block_;
  std::size_t begin_ = 0; // of what has not been given out
  std::size_t end_ = 0;   // of what has arrived
  bool over_maximum_ = false;
};

} // namespace datastream
