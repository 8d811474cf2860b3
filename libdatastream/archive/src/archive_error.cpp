#include <datastream/archive/archive_error.hpp>

#include <ostream>

namespace datastream {

std::ostream& operator<<(std::ostream& out, Sequence sequence) {
  return out << sequence.value;
}

std::string_view to_string(ArchiveError::Kind kind) {
  switch (kind) {
  case ArchiveError::Kind::not_an_archive:
    return "not_an_archive";
  case ArchiveError::Kind::unsupported:
    return "unsupported";
  case ArchiveError::Kind::locked:
    return "locked";
  case ArchiveError::Kind::io:
    return "io";
  case ArchiveError::Kind::no_room:
    return "no_room";
  case ArchiveError::Kind::damaged:
    return "damaged";
  case ArchiveError::Kind::missing:
    return "missing";
  case ArchiveError::Kind::metadata_ahead:
    return "metadata_ahead";
  case ArchiveError::Kind::bad_cursor:
    return "bad_cursor";
  case ArchiveError::Kind::unknown_stream:
    return "unknown_stream";
  case ArchiveError::Kind::stopped:
    return "stopped";
  case ArchiveError::Kind::bad_input:
    return "bad_input";
  }
  return "";
}

std::ostream& operator<<(std::ostream& out, const ArchiveError& error) {
  out << error.message;
  if (error.lost)
    out << " (sequences " << error.lost->first << " to " << error.lost->last << ")";
  return out;
}

} // namespace datastream
