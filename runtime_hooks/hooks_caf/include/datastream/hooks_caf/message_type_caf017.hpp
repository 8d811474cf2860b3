#pragma once
/// Types of messages as CAF 0.17.6 knows them: a number, or a type without one, for each element;
/// atoms are values of one type.

#include <datastream/caf/version.hpp>

#include <caf/actor_system.hpp>
#include <caf/atom.hpp>
#include <caf/local_actor.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/type_nr.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <typeinfo>

namespace datastream::detail {

inline bool is_atom(const caf::type_erased_tuple& content, std::size_t index) {
  return content.type(index).first == caf::type_nr<caf::atom_value>::value;
}

/// Different for different types, but for a chance of one in 2^64. Never 0.
inline std::uint64_t message_type_key(const caf::mailbox_element& element) {
  const caf::type_erased_tuple& content = element.content();
  std::uint64_t key = 0x9e3779b97f4a7c15ULL ^ content.size();
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto [number, info] = content.type(i);
    std::uint64_t part = number != 0 ? number : info->hash_code();
    if (number ==
        caf::type_nr<caf::atom_value>::value) // asking again would be one more virtual call
      part ^= static_cast<std::uint64_t>(content.get_as<caf::atom_value>(i)) << 3U;
    key = (key ^ part) * 0xff51afd7ed558ccdULL;
    key ^= key >> 32U;
  }
  return key | 1U;
}

/// For people: `(atom, type, ...)`.
std::string message_type_name(const caf::local_actor& self, const caf::mailbox_element& element);

} // namespace datastream::detail
