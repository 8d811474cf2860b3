#pragma once
/// Which CAF this is. Only headers of this folder ask, and files named `*_caf017` and `*_caf1x`.
///
/// Every public header that includes CAF includes this one or another that does, so that none can
/// be used with a CAF that the library was not built with.

#include <datastream/caf/built_with.hpp>

#include <caf/config.hpp>
#if __has_include(<caf/detail/build_config.hpp>)
#include <caf/detail/build_config.hpp>
#endif

// CAF_VERSION itself is octal on 1.x.
#define DATASTREAM_CAF_VERSION                                                                     \
  (CAF_MAJOR_VERSION * 10000 + CAF_MINOR_VERSION * 100 + CAF_PATCH_VERSION)
#define DATASTREAM_CAF_1X (DATASTREAM_CAF_VERSION >= 10000)

#if DATASTREAM_CAF_VERSION >= 20000 || (!DATASTREAM_CAF_1X && DATASTREAM_CAF_VERSION != 1706)
#error "datastream needs CAF 0.17.6 or CAF 1.x"
#endif
// CAF promises no binary compatibility, not even between patches.
#if DATASTREAM_CAF_VERSION != DATASTREAM_BUILT_WITH_CAF
#error "datastream was built with another CAF: see <datastream/caf/built_with.hpp>"
#endif

namespace datastream::compat {

inline constexpr bool caf_is_1x = DATASTREAM_CAF_1X;

} // namespace datastream::compat

/// `#include DATASTREAM_CAF_HEADER(datastream/folder/name)`: of the pair `name_caf017.hpp` and
/// `name_caf1x.hpp` the one for this CAF.
#if DATASTREAM_CAF_1X
#define DATASTREAM_CAF_HEADER(path) <path##_caf1x.hpp>
#else
#define DATASTREAM_CAF_HEADER(path) <path##_caf017.hpp>
#endif
