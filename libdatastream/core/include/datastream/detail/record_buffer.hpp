#pragma once
/// The text that `submit_record` encodes into.

#include <datastream/defaults.hpp>

#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace datastream::detail {

template <class R>
struct RecordText; // `datastream/record.hpp` defines it

/// A record as text, in memory that its thread uses again and again: encoding allocates nothing in
/// the steady state, and what one large record needed is given back at once. Works until the very
/// end of a thread, when the destructors of its own objects submit their last records.
class RecordBuffer {
public:
  RecordBuffer() noexcept;
  ~RecordBuffer();
  RecordBuffer(const RecordBuffer&) = delete;
  RecordBuffer& operator=(const RecordBuffer&) = delete;

  /// Called once. False: there is no memory for it.
  template <class R>
  bool encode(const R& record) noexcept {
    try {
      RecordText<R>::append(text_, record);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  std::string_view text() const noexcept { return text_; }
  /// Whether the text is one that the mux would not copy if it owned it.
  bool is_large() const noexcept { return text_.size() > defaults::slab_payload_max; }
  /// The text, whose memory then is no longer used again.
  std::string take() noexcept { return std::move(text_); }

private:
  std::string text_;
};

} // namespace datastream::detail
