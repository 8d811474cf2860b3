#pragma once
/// Serialisation of our types, written once for every CAF.

#include <datastream/caf/version.hpp>

#include <caf/error.hpp>
#include <caf/none.hpp>
#if DATASTREAM_CAF_1X
#include <caf/inspector_access.hpp>
#include <caf/inspector_access_base.hpp>
#else
#include <caf/meta/load_callback.hpp>
#include <caf/meta/type_name.hpp>
#endif

#include <tuple>
#include <utility>

namespace datastream::compat {

#if DATASTREAM_CAF_1X

template <class Inspector>
using InspectResult = bool;

namespace detail {
template <class Inspector>
auto fields_of(Inspector&) {
  return std::tuple<>{};
}
template <class Inspector, class T, class... Ts>
auto fields_of(Inspector& f, const char* name, T& value, Ts&... rest) {
  return std::tuple_cat(std::make_tuple(f.field(name, value)), fields_of(f, rest...));
}
} // namespace detail

/// `inspect_object(f, x, "Name", "a", x.a, "b", x.b)`: the fields of `x`, in this order.
template <class Inspector, class T, class... Ts>
bool inspect_object(Inspector& f, T& x, const char*, Ts&&... fields) {
  return std::apply(
      [&](auto&&... each) { return f.object(x).fields(std::forward<decltype(each)>(each)...); },
      detail::fields_of(f, fields...));
}

/// Sends `x` as the plain type `Wire`: `to_wire(x)` makes it, `from_wire(Wire&&, x)` takes it back.
template <class Wire, class Inspector, class T, class ToWire, class FromWire>
bool inspect_as(Inspector& f, T& x, const char*, ToWire to_wire, FromWire from_wire) {
  if constexpr (Inspector::is_loading) {
    Wire wire;
    if (!f.object(x).fields(f.field("wire", wire)))
      return false;
    from_wire(std::move(wire), x);
    return true;
  } else {
    Wire wire = to_wire(x);
    return f.object(x).fields(f.field("wire", wire));
  }
}

#else

template <class Inspector>
using InspectResult = typename Inspector::result_type;

namespace detail {
inline auto values_of() {
  return std::tuple<>{};
}
template <class T, class... Ts>
auto values_of(const char*, T& value, Ts&... rest) {
  return std::tuple_cat(std::tuple<T&>(value), values_of(rest...));
}
} // namespace detail

/// `inspect_object(f, x, "Name", "a", x.a, "b", x.b)`: the fields of `x`, in this order.
template <class Inspector, class T, class... Ts>
InspectResult<Inspector> inspect_object(Inspector& f, T&, const char* type, Ts&&... fields) {
  return std::apply(
      [&](auto&... values) -> InspectResult<Inspector> {
        return f(caf::meta::type_name(type), values...);
      },
      detail::values_of(fields...));
}

/// Sends `x` as the plain type `Wire`: `to_wire(x)` makes it, `from_wire(Wire&&, x)` takes it back.
template <class Wire, class Inspector, class T, class ToWire, class FromWire>
InspectResult<Inspector> inspect_as(Inspector& f, T& x, const char* type, ToWire to_wire,
                                    FromWire from_wire) {
  if constexpr (Inspector::writes_state) {
    Wire wire;
    auto take = [&]() -> caf::error {
      from_wire(std::move(wire), x);
      return caf::none;
    };
    return f(caf::meta::type_name(type), wire, caf::meta::load_callback(take));
  } else {
    Wire wire = to_wire(x);
    return f(caf::meta::type_name(type), wire);
  }
}

#endif

} // namespace datastream::compat

/// At global scope, once per `std::variant` that has an `inspect` of its own: CAF 1.x has another
/// one for all variants.
#if DATASTREAM_CAF_1X

namespace datastream::compat::detail {

template <class T>
struct OwnInspect : caf::inspector_access_base<T> {
  template <class Inspector>
  static bool apply(Inspector& f, T& x) {
    return inspect(f, x);
  }
};

} // namespace datastream::compat::detail

#define DATASTREAM_CAF_OWN_INSPECT(type)                                                           \
  template <>                                                                                      \
  struct caf::inspector_access<type> : datastream::compat::detail::OwnInspect<type> {};

#else
#define DATASTREAM_CAF_OWN_INSPECT(type)
#endif
