/// Keeps one frame in the directory that it is given, and prints what it reads there.

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_reader.hpp>

#include <iostream>
#include <vector>

int main(int, char** argv) {
  const datastream::StreamId stream{"demo", {1}};
  if (auto archive = datastream::Archive::open(argv[1])) {
    (*archive)->append(datastream::FrameBatch::copy_of(
        stream, std::vector<datastream::Frame>{{{1}, {0}, "kept"}}));
    if (auto durable = (*archive)->flush(); !durable)
      std::cerr << durable.error() << '\n';
  }
  auto reader = datastream::ArchiveReader::open(argv[1]);
  if (!reader) {
    std::cerr << reader.error() << '\n';
    return 1;
  }
  auto cursor = reader->read_from({0});
  while (auto batch = cursor->next()) {
    if (!*batch)
      break;
    for (const datastream::FrameView& frame : (*batch)->frames)
      std::cout << (*batch)->frames.stream() << ' ' << frame.position << ' ' << frame.payload
                << '\n';
  }
}
