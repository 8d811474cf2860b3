#include "faults.hpp"

#include "printable.hpp"

#include <iostream>
#include <sstream>

namespace datastream::tool {

std::string to_text(const ArchiveError& error) {
  std::ostringstream text;
  text << error;
  return text.str();
}

void say(std::string_view text) {
  std::cerr << "datastream-archive: " << printable(text) << '\n';
}

bool Faults::report(const std::string& text) {
  if (!said_.insert(text).second)
    return false;
  say(text);
  return true;
}

} // namespace datastream::tool
