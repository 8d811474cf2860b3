#include "fuzz_json_line.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!datastream::fuzz::json_line_holds({reinterpret_cast<const char*>(data), size}))
    __builtin_trap();
  return 0;
}
