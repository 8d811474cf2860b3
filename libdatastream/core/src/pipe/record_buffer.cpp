#include <datastream/detail/record_buffer.hpp>

#include <datastream/defaults.hpp>
#include <datastream/pipe/mux.hpp>

#include <utility>

namespace datastream::detail {
namespace {

/// What is kept for the next record: enough for all that are copied, as strings grow by doubling.
/// Larger ones take their memory with them.
constexpr std::size_t kept_bytes = 2 * defaults::slab_payload_max;

thread_local constinit bool spare_gone = false; // this thread is ending

struct Spare {
  std::string text;
  ~Spare() { spare_gone = true; }
};

/// The memory that no record of this thread is using; null when the thread is ending.
std::string* spare_of_thread() noexcept {
  if (spare_gone)
    return nullptr;
  thread_local Spare spare;
  return &spare.text;
}

} // namespace

RecordBuffer::RecordBuffer() noexcept {
  if (std::string* spare = spare_of_thread())
    text_.swap(*spare);
  text_.clear();
}

bool RecordBuffer::submit(Mux& mux, ChannelId channel) noexcept {
  if (!encoded_)
    return mux.refuse_out_of_memory();
  if (text_.size() > defaults::slab_payload_max)
    return mux.submit_owned(channel, std::move(text_));
  return mux.submit(channel, text_);
}

RecordBuffer::~RecordBuffer() {
  if (text_.capacity() <= kept_bytes)
    if (std::string* spare = spare_of_thread())
      text_.swap(*spare);
}

} // namespace datastream::detail
