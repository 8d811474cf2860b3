#pragma once
/// A benchmark that lost or damaged a frame measures nothing: it ends here, in every build type.

#include <string_view>

namespace bench {

[[noreturn]] void fail(std::string_view expectation) noexcept;

/// Ends the process with a message unless `holds`. `expectation` says what should be true.
inline void require(bool holds, std::string_view expectation) noexcept {
  if (!holds) [[unlikely]]
    fail(expectation);
}

} // namespace bench
