#pragma once
/// Numbers and texts in the byte order of the archive's files: little endian.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace datastream::format {

static_assert(std::endian::native == std::endian::little, "the archive's files are little endian");

template <std::integral T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out.append(text);
}

/// Where there is known to be room.
template <std::integral T>
void set(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <std::integral T>
T get(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Takes values from the front of bytes, and remembers if there were too few: ask `failed` once,
/// behind the last.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <std::integral T>
  T take() {
    if (rest_.size() < sizeof(T)) {
      fail();
      return 0;
    }
    const T value = get<T>(rest_.data());
    rest_.remove_prefix(sizeof(T));
    return value;
  }

  std::string_view take_bytes(std::size_t count) {
    if (rest_.size() < count) {
      fail();
      return {};
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

  std::string_view take_text() { return take_bytes(take<std::uint32_t>()); }

  void fail() {
    failed_ = true;
    rest_ = {};
  }
  bool failed() const { return failed_; }
  std::size_t size() const { return rest_.size(); }
  bool empty() const { return rest_.empty(); }

private:
  std::string_view rest_;
  bool failed_ = false;
};

} // namespace datastream::format
