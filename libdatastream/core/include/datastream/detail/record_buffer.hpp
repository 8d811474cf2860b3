#pragma once
/// How `submit_record` submits.

#include <datastream/model/ids.hpp>

#include <new>
#include <string>

namespace datastream {

class Mux;

namespace detail {

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

  /// Called once.
  template <class R>
  void encode(const R& record) noexcept {
    try {
      RecordText<R>::append(text_, record);
      encoded_ = true;
    } catch (const std::bad_alloc&) {
      // `submit` counts it.
    }
  }
  /// Submits what was encoded, once. False: refused and counted, also when there was no memory.
  bool submit(Mux& mux, ChannelId channel) noexcept;

private:
  std::string text_;
  bool encoded_ = false;
};

} // namespace detail
} // namespace datastream
