#include <datastream/envelope/catalog_file.hpp>

#include <datastream/model/json.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace datastream {

std::expected<DatastreamSnapshot, CatalogFileError>
load_catalog(const std::filesystem::path& file) {
  using Kind = CatalogFileError::Kind;
  const auto error = [&](Kind kind, const std::string& why) {
    return std::unexpected(CatalogFileError{kind, file.string() + ": " + why});
  };
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::array<char, 4096> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0)
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
  if (!in.eof()) // a folder, for example, opens but cannot be read
    return error(Kind::unreadable, std::generic_category().message(errno ? errno : EIO));
  auto snapshot = decode_json<DatastreamSnapshot>(text);
  if (!snapshot)
    return error(Kind::not_a_catalog, snapshot.error().message());
  return std::move(*snapshot);
}

} // namespace datastream
