#pragma once
/// Arbitrary bytes as an envelope: they decode or they do not, and what decodes is encoded the
/// same.

#include <datastream/envelope/codec.hpp>

#include <string>
#include <string_view>

namespace datastream::fuzz {

inline bool envelope_holds(std::string_view bytes) {
  const auto view = decode_envelope(bytes);
  const auto delivery = decode_delivery(bytes);
  if (!view)
    return !delivery && delivery.error() == view.error();
  // It lies in the input, and nothing of that is left over.
  if (view->node.data() != bytes.data() + 4 ||
      view->payload.data() + view->payload.size() != bytes.data() + bytes.size() ||
      envelope_overhead + view->node.size() + view->payload.size() != bytes.size())
    return false;
  std::string encoded;
  return delivery && *delivery == view->to_delivery() &&
         encode_envelope(encoded, view->stream(), view->frame()) && encoded == bytes;
}

} // namespace datastream::fuzz
