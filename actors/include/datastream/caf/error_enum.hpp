#pragma once
/// Turning an enumeration of ours into an error category of CAF.

#include <datastream/caf/version.hpp>

#include <caf/error.hpp>
#include <caf/message.hpp>
#if DATASTREAM_CAF_1X
#include <caf/inspector_access.hpp>
#include <caf/inspector_access_base.hpp>

#include <string_view>
#include <type_traits>
#else
#include <caf/make_message.hpp>
#endif

#if DATASTREAM_CAF_1X

namespace datastream::compat::detail {

/// How an enumeration travels: as its number. For people it is its name.
template <class Enum>
struct EnumAccess : caf::inspector_access_base<Enum> {
  template <class Inspector>
  static bool apply(Inspector& f, Enum& x) {
    using Number = std::underlying_type_t<Enum>;
    if constexpr (!Inspector::is_loading)
      if (f.has_human_readable_format())
        return f.apply([&] { return to_string(x); }, [](std::string_view) { return false; });
    return f.apply([&] { return static_cast<Number>(x); },
                   [&](Number number) {
                     x = static_cast<Enum>(number);
                     return true;
                   });
  }
};

} // namespace datastream::compat::detail

/// At global scope, once per enumeration, which has a `to_string` and a type id. The category's
/// name has at most ten characters.
#define DATASTREAM_CAF_ERROR_ENUM(type, category)                                                  \
  template <>                                                                                      \
  struct caf::inspector_access<type> : datastream::compat::detail::EnumAccess<type> {};            \
  CAF_ERROR_CODE_ENUM(type)

#else

/// At global scope, once per enumeration, which has a `to_string` and a type id. The category's
/// name has at most ten characters.
#define DATASTREAM_CAF_ERROR_ENUM(type, category) CAF_ERROR_CODE_ENUM(type, category)

#endif
