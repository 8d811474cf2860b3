#include "simulated_disk.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace datastream::test {

using Kind = FileOperation::Kind;

namespace {

constexpr std::size_t sector_bytes = 512;

std::string parent_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

bool of_index(const std::string& path) {
  return path.find("index") != std::string::npos;
}

std::size_t up_to(std::size_t highest, std::mt19937_64& random) {
  return random() % (highest + 1);
}

/// Does an operation to those bytes for which `reaches(offset)` holds, sector by sector.
void change(std::string& bytes, const FileOperation& operation,
            const std::function<bool(std::size_t)>& reaches) {
  const std::size_t end = operation.is(Kind::write)
                              ? operation.offset + operation.bytes.size()
                              : std::max<std::size_t>(operation.offset, bytes.size());
  bytes.resize(std::max(bytes.size(), end));
  for (std::size_t at = operation.offset; at < end;) {
    const std::size_t next = std::min(end, (at / sector_bytes + 1) * sector_bytes);
    if (reaches(at)) {
      if (operation.is(Kind::write))
        operation.bytes.copy(bytes.data() + at, next - at, at - operation.offset);
      else
        std::fill(bytes.begin() + at, bytes.begin() + next, '\0');
    }
    at = next;
  }
}

std::size_t size_after(std::size_t size, const FileOperation& operation) {
  return operation.is(Kind::write)
             ? std::max<std::size_t>(size, operation.offset + operation.bytes.size())
         : operation.is(Kind::truncate) ? operation.offset
                                        : size;
}

void change_whole(std::string& bytes, const FileOperation& operation) {
  if (!operation.is(Kind::write) && !operation.is(Kind::truncate))
    return;
  const std::size_t size = size_after(bytes.size(), operation);
  change(bytes, operation, [](std::size_t) { return true; });
  bytes.resize(size);
}

} // namespace

DiskImage DiskImage::of(const std::filesystem::path& root) {
  DiskImage image;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    std::optional<FileImage>& file = image.entries[entry.path().lexically_relative(root).string()];
    if (entry.is_directory())
      continue;
    std::ifstream in(entry.path(), std::ios::binary);
    file = {{std::istreambuf_iterator<char>(in), {}},
            (entry.status().permissions() & std::filesystem::perms::owner_write) ==
                std::filesystem::perms::none};
  }
  return image;
}

void DiskImage::write_to(const std::filesystem::path& root) const {
  for (const auto& [name, file] : entries) { // a directory comes before what is in it
    if (!file) {
      std::filesystem::create_directory(root / name);
      continue;
    }
    std::ofstream(root / name, std::ios::binary) << file->bytes;
    if (file->read_only)
      std::filesystem::permissions(root / name, std::filesystem::perms(0444));
  }
}

std::uint64_t DiskImage::hash() const {
  std::uint64_t sum = 0;
  const auto add = [&](std::uint64_t value) { sum = (sum ^ value) * 0x9e3779b97f4a7c15ULL; };
  for (const auto& [name, file] : entries) {
    add(std::hash<std::string>{}(name));
    add(file ? std::hash<std::string>{}(file->bytes) + file->read_only : 0);
    sum ^= sum >> 29U;
  }
  return sum;
}

SimulatedDisk::SimulatedDisk(const DiskImage& initial) {
  directories_[""] = add(true);
  for (const auto& [name, file] : initial.entries) {
    const std::size_t node = add(!file);
    if (file) {
      nodes_[node].durable = file->bytes;
      nodes_[node].read_only = file->read_only;
    } else {
      directories_[name] = node;
    }
    Node& directory = directory_of(name);
    directory.names[name] = directory.current_names[name] = node;
  }
}

std::size_t SimulatedDisk::add(bool directory) {
  nodes_.emplace_back().directory = directory;
  return nodes_.size() - 1;
}

SimulatedDisk::Node& SimulatedDisk::directory_of(const std::string& path) {
  return nodes_[directories_.at(parent_of(path))];
}

std::size_t SimulatedDisk::file_of(const FileOperation& operation) {
  if (const auto known = files_.find(operation.file); operation.file && known != files_.end())
    return known->second;
  // It was there before anybody looked on.
  const std::size_t node = directory_of(operation.path).current_names.at(operation.path);
  if (operation.file)
    files_[operation.file] = node;
  return node;
}

void SimulatedDisk::change_names(std::map<std::string, std::size_t>& names,
                                 const FileOperation& operation) const {
  const std::size_t node = made_.at(&operation);
  const auto old = names.find(operation.path);
  switch (operation.kind) {
  case Kind::create:
  case Kind::create_directory:
    names[operation.path] = node;
    break;
  case Kind::rename:
    if (old != names.end() && old->second == node)
      names.erase(old);
    names[operation.new_path] = node;
    break;
  default: // a removal
    if (old != names.end() && old->second == node)
      names.erase(old);
  }
}

void SimulatedDisk::apply(const FileOperation& operation) {
  switch (operation.kind) {
  case Kind::create:
  case Kind::create_directory: {
    const std::size_t node = add(operation.is(Kind::create_directory));
    made_[&operation] = node;
    if (operation.is(Kind::create))
      files_[operation.file] = node;
    else
      directories_[operation.path] = node;
    break;
  }
  case Kind::rename:
    if (parent_of(operation.path) != parent_of(operation.new_path))
      throw std::logic_error("a rename from one directory to another");
    [[fallthrough]];
  case Kind::remove:
    made_[&operation] = directory_of(operation.path).current_names.at(operation.path);
    if (operation.is(Kind::rename))
      files_[operation.file] = made_[&operation];
    break;
  case Kind::sync_directory: {
    Node& directory = nodes_[directories_.at(operation.path)];
    directory.names = directory.current_names;
    directory.pending.clear();
    return;
  }
  case Kind::sync: {
    Node& file = nodes_[file_of(operation)];
    for (const FileOperation* pending : file.pending) {
      change_whole(file.durable, *pending);
      file.read_only |= pending->is(Kind::make_read_only);
    }
    file.pending.clear();
    return;
  }
  case Kind::write:
  case Kind::truncate:
  case Kind::make_read_only:
    nodes_[file_of(operation)].pending.push_back(&operation);
    return;
  }
  Node& directory = directory_of(operation.path);
  change_names(directory.current_names, operation);
  directory.pending.push_back(&operation);
}

DiskImage::FileImage SimulatedDisk::content(const Node& file, Survival::Data data,
                                            std::mt19937_64& random) const {
  using Data = Survival::Data;
  if (data == Data::random)
    data = Data(up_to(std::size_t(Data::sectors), random));
  DiskImage::FileImage image{file.durable, file.read_only};
  if (data == Data::none || file.pending.empty())
    return image;
  for (const FileOperation* pending : file.pending)
    image.read_only |= pending->is(Kind::make_read_only) && (data == Data::all || random() % 2);
  if (data != Data::sectors) {
    for (const FileOperation* pending : file.pending) {
      if (data == Data::torn && pending == file.pending.back() && pending->is(Kind::write)) {
        FileOperation part = *pending;
        part.bytes.resize(up_to(part.bytes.size(), random));
        change_whole(image.bytes, part);
      } else {
        change_whole(image.bytes, *pending);
      }
    }
    return image;
  }
  // How many of the operations each sector has seen, and the size.
  std::map<std::size_t, std::size_t> seen;
  std::size_t of_size = up_to(file.pending.size(), random);
  std::size_t size = image.bytes.size();
  for (std::size_t i = 0; i < file.pending.size(); ++i) {
    const FileOperation& pending = *file.pending[i];
    if (!pending.is(Kind::write) && !pending.is(Kind::truncate))
      continue;
    change(image.bytes, pending, [&](std::size_t at) {
      const auto [sector, is_new] = seen.try_emplace(at / sector_bytes, 0);
      if (is_new)
        sector->second = up_to(file.pending.size(), random);
      return i < sector->second;
    });
    if (i < of_size)
      size = size_after(size, pending);
  }
  image.bytes.resize(size);
  return image;
}

void SimulatedDisk::collect(DiskImage& image, const Node& directory, const Survival& survival,
                            std::mt19937_64& random) const {
  using Names = Survival::Names;
  const auto part = [&](const std::string& path) -> const Survival::Part& {
    return of_index(path) ? survival.index : survival.archive;
  };
  std::map<std::string, std::size_t> names = directory.names;
  std::size_t kept = directory.pending.size();
  if (kept > 0 && part(directory.pending.front()->path).names == Names::prefix)
    kept = up_to(kept, random);
  for (std::size_t i = 0; i < kept; ++i) {
    const FileOperation& pending = *directory.pending[i];
    const Names policy = part(pending.path).names;
    if (policy == Names::none || (policy == Names::subset && random() % 2))
      continue;
    change_names(names, pending);
  }
  for (const auto& [name, node] : names) {
    if (survival.index_lost && of_index(name))
      continue;
    if (nodes_[node].directory) {
      image.entries[name] = std::nullopt;
      collect(image, nodes_[node], survival, random);
    } else {
      image.entries[name] = content(nodes_[node], part(name).data, random);
    }
  }
}

DiskImage SimulatedDisk::now() const {
  std::mt19937_64 unused;
  return after_power_cut({}, unused);
}

DiskImage SimulatedDisk::after_power_cut(const Survival& survival, std::mt19937_64& random) const {
  DiskImage image;
  collect(image, nodes_.front(), survival, random);
  return image;
}

} // namespace datastream::test
