#include <datastream/archive/file_system.hpp>

namespace datastream {

std::string FileError::message() const {
  return operation + ' ' + path.string() + ": " + code.message();
}

} // namespace datastream
