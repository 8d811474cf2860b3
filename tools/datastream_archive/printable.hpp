#pragma once
/// Text that does nothing to a terminal but appear on it.

#include <string>
#include <string_view>

namespace datastream::tool {

/// Control characters, those that change the direction of text or break lines, and bytes that are
/// no UTF-8, as `\n`, `\x1b`, `\u202e`; everything else as it is.
std::string printable(std::string_view text);

} // namespace datastream::tool
