/// Runs what the fuzz targets check on their seed corpora.

#include "../fuzz/fuzz_body.hpp"
#include "../fuzz/fuzz_frame_batch.hpp"
#include "../fuzz/fuzz_model_json.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace fs = std::filesystem;

namespace {

template <class Holds>
void replay(const std::string& target, Holds holds) {
  std::size_t count = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(DATASTREAM_SOURCE_DIR) / "tests/fuzz/corpus" / target)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(file), {});
    CAPTURE(entry.path().filename().string());
    CHECK(holds(input));
    ++count;
  }
  CHECK(count >= 5);
}

} // namespace

TEST_CASE("the_corpus_of_model_json_holds") {
  replay("fuzz_model_json", datastream::fuzz::model_json_holds);
}

TEST_CASE("the_corpus_of_bodies_holds") {
  replay("fuzz_body", datastream::fuzz::body_holds);
}

TEST_CASE("the_corpus_of_frame_batches_holds") {
  replay("fuzz_frame_batch", datastream::fuzz::frame_batch_holds);
}
