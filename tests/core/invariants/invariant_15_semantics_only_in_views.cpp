/// Specification 9.1, invariant 15: removing every view leaves a pipe that still works. So nothing
/// outside the views may include a view, or the JSON library that could look into a payload; and
/// what is stored does not depend on what payloads mean.

#include <datastream/ingest/consumer.hpp>
#include <datastream/model/frame_batch.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace datastream;
namespace fs = std::filesystem;

namespace {

struct Source {
  std::string path; ///< below libdatastream/, with forward slashes
  std::vector<std::string> includes;

  bool is_header() const { return path.ends_with(".hpp"); }
  bool in(std::string_view folder) const { return path.find(folder) != std::string::npos; }
};

std::vector<Source> sources_of_libdatastream() {
  const fs::path root = fs::path(DATASTREAM_SOURCE_DIR) / "libdatastream";
  std::vector<Source> sources;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".hpp" && extension != ".cpp")
      continue;
    Source source{fs::relative(entry.path(), root).generic_string(), {}};
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("#include"))
        continue;
      const auto begin = line.find_first_of("<\"");
      const auto end = line.find_last_of(">\"");
      REQUIRE_MESSAGE(end > begin, source.path, ": ", line);
      source.includes.push_back(line.substr(begin + 1, end - begin - 1));
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

/// The places that may know what JSON a payload holds.
bool may_read_json(const Source& source) {
  return (source.path.starts_with("core/src/model/") && source.path.ends_with("_json.cpp")) ||
         source.path == "core/include/datastream/record.hpp" ||
         source.path.starts_with("core/include/datastream/views/") ||
         source.path.starts_with("core/src/views/");
}

/// Calls `visit(source, include)` for every include line; returns how many there are.
template <class Visit>
std::size_t each_include(Visit visit) {
  std::size_t count = 0;
  for (const Source& source : sources_of_libdatastream()) {
    for (const std::string& include : source.includes) {
      CAPTURE(source.path);
      CAPTURE(include);
      visit(source, include);
      ++count;
    }
  }
  return count;
}

} // namespace

TEST_CASE("invariant_15_semantics_only_in_views") {
  // Payloads that mean everything and nothing are stored alike, in one stream.
  const StreamId stream{"node-a", {7}};
  const std::vector<std::string> payloads = {"",     R"({"a":1})",         "{",
                                             "text", std::string(3, '\0'), "\xff\xfe"};
  std::vector<Frame> frames;
  for (const std::string& payload : payloads)
    frames.push_back({{1}, {frames.size()}, payload});
  Consumer consumer;
  CHECK(consumer.accept(FrameBatch::copy_of(stream, frames)) == payloads.size());
  std::size_t at = 0;
  for (const FrameView& frame : consumer.store().find(stream)->frames())
    CHECK(frame.payload == payloads[at++]);
  CHECK(at == payloads.size());
}

TEST_CASE("invariant_15_only_views_and_json_sources_include_the_json_library") {
  const std::size_t count = each_include([](const Source& source, const std::string& include) {
    if (include.starts_with("nlohmann/") && include != "nlohmann/json_fwd.hpp")
      CHECK(may_read_json(source));
  });
  CHECK(count > 100);
}

TEST_CASE("invariant_15_nothing_of_the_pipe_includes_a_view") {
  const std::size_t count = each_include([](const Source& source, const std::string& include) {
    if (source.path.starts_with("core/") && !source.in("/views/"))
      CHECK_FALSE(include.starts_with("datastream/views/"));
  });
  CHECK(count > 100);
}

TEST_CASE("invariant_15_the_model_includes_no_other_folder") {
  const std::size_t count = each_include([](const Source& source, const std::string& include) {
    if (!source.path.starts_with("core/src/model/") &&
        !source.path.starts_with("core/include/datastream/model/"))
      return;
    const bool own = include.starts_with("datastream/model/") ||
                     include == "datastream/defaults.hpp"; // constants, no folder
    CHECK((own || !include.starts_with("datastream/")));
  });
  CHECK(count > 100);
}

TEST_CASE("invariant_15_no_header_of_the_library_includes_caf") {
  const std::size_t count = each_include([](const Source& source, const std::string& include) {
    if (source.is_header())
      CHECK_FALSE(include.starts_with("caf/"));
  });
  CHECK(count > 100);
}

TEST_CASE("invariant_15_only_the_compatibility_headers_ask_which_caf_this_is") {
  const fs::path root = DATASTREAM_SOURCE_DIR;
  // In two parts each, because this file is searched as well.
  const std::string names[] = {
      std::string("DATASTREAM_CAF") + "_1X", std::string("DATASTREAM_CAF") + "_VERSION",
      std::string("CAF") + "_VERSION", std::string("CAF_MAJOR") + "_VERSION"};
  std::size_t files = 0;
  std::size_t asking = 0;
  for (const char* folder :
       {"libdatastream", "actors", "runtime_hooks", "tests", "examples", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp")
        continue;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      const std::string stem = entry.path().stem().string();
      const bool may_ask = path.starts_with("actors/include/datastream/caf/") ||
                           stem.ends_with("_caf017") || stem.ends_with("_caf1x");
      std::ifstream file(entry.path());
      const std::string text(std::istreambuf_iterator<char>(file), {});
      for (const std::string& name : names) {
        CAPTURE(path);
        CAPTURE(name);
        const bool asks = text.find(name) != std::string::npos;
        CHECK_FALSE((asks && !may_ask));
        asking += asks;
      }
      ++files;
    }
  }
  CHECK(files > 100);
  CHECK(asking > 0); // the names are those that the headers use
}
