#include <datastream/envelope/carrier.hpp>

namespace datastream {

void MalformedCounts::count(EnvelopeError error) noexcept {
  switch (error) {
  case EnvelopeError::truncated:
    ++truncated;
    return;
  case EnvelopeError::not_utf8:
    ++not_utf8;
    return;
  case EnvelopeError::trailing_bytes:
    ++trailing_bytes;
    return;
  case EnvelopeError::bad_length:
  case EnvelopeError::unknown_tag:
    return; // never found by decoding
  }
}

} // namespace datastream
