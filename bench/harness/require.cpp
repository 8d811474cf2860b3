#include "harness/require.hpp"

#include <cstdio>
#include <cstdlib>

namespace bench {

void fail(std::string_view expectation) noexcept {
  std::fprintf(stderr, "benchmark void, this does not hold: %.*s\n",
               static_cast<int>(expectation.size()), expectation.data());
  std::abort();
}

} // namespace bench
