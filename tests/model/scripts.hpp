#pragma once
/// Scripts, drawn and shrunk by RapidCheck.

#include "script.hpp"

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <ostream>

namespace datastream::model_test {

std::ostream& operator<<(std::ostream& out, const Script& script);

/// A script of so many actions, always the same for a seed.
Script draw_script(std::uint64_t seed, std::size_t actions);

/// A random one. It shrinks by leaving out parts, the largest first, then by making
/// single numbers smaller.
rc::Gen<Script> scripts(std::size_t actions);

} // namespace datastream::model_test
