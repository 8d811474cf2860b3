/// Writes the files of the golden archive anew: `write_golden tests/archive/golden`. Only when the
/// format gets a new version; until then they must stay what they are.

#include "../golden_archive.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_golden DIRECTORY\n";
    return 2;
  }
  for (const auto& [name, bytes] : datastream::test::golden_archive().files) {
    std::ofstream file(std::filesystem::path(argv[1]) / name, std::ios::binary);
    if (!(file << bytes).flush()) {
      std::cerr << "cannot write " << name << '\n';
      return 1;
    }
  }
}
