#pragma once
/// Values as the bytes that CAF sends.

#include <datastream/caf/version.hpp>

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#if DATASTREAM_CAF_1X
#include <caf/byte_buffer.hpp>
#else
#include <vector>
#endif

namespace datastream::compat {

#if DATASTREAM_CAF_1X
using Bytes = caf::byte_buffer;
#else
using Bytes = std::vector<char>;
#endif

/// Appends the bytes of a value that has an `inspect`. False: it refused.
template <class T>
bool save_binary(Bytes& bytes, T& value) {
#if DATASTREAM_CAF_1X
  caf::binary_serializer sink{bytes};
  return sink.apply(value);
#else
  caf::binary_serializer sink{nullptr, bytes};
  return !sink(value);
#endif
}

/// Reads a value that takes up all of `bytes`. False: these are not the bytes of one.
template <class T>
bool load_binary(const Bytes& bytes, T& value) {
#if DATASTREAM_CAF_1X
  caf::binary_deserializer source{bytes};
  return source.apply(value) && source.remaining() == 0;
#else
  caf::binary_deserializer source{nullptr, bytes};
  return !source(value) && source.remaining() == 0;
#endif
}

} // namespace datastream::compat
