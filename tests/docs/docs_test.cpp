/// What the documents say about the sources is true.

#include "documents.hpp"

#include <datastream/defaults.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace docs_test;
namespace fs = std::filesystem;

namespace {

const fs::path includes = source_dir() / "libdatastream/core/include/datastream";
const fs::path actors = source_dir() / "actors/include/datastream/actors";

/// The names of all tests that CTest could run.
std::set<std::string> test_names() {
  std::set<std::string> names;
  for (const fs::path& file : all_files()) {
    const std::string text = file.extension() == ".cpp" || file.filename() == "CMakeLists.txt"
                                 ? read(file)
                                 : std::string();
    for (const char* pattern :
         {R"re(TEST_CASE(?:_TEMPLATE)?\("([^"]+)")re", R"re(add_test\(NAME ([^\s)]+))re"})
      for (const std::string& name : captures(text, pattern))
        names.insert(name);
  }
  return names;
}

/// The tests that the rows of a document's tables name, and whether each row does.
void check_tests_of(const std::string& document, std::size_t at_least) {
  const std::set<std::string> known = test_names();
  std::size_t count = 0;
  for (const Row& row : table_rows(read(source_dir() / document))) {
    if (!row.has("test") || row.cell("test") == "–")
      continue;
    CAPTURE(row.text());
    const auto named = code_spans(row.cell("test"));
    CHECK_FALSE(named.empty());
    for (const std::string& name : named) {
      CAPTURE(name);
      CHECK(known.contains(name));
      ++count;
    }
  }
  CHECK(count >= at_least);
}

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string in_bytes(std::size_t bytes) {
  if (bytes % (1U << 20U) == 0)
    return with_commas(bytes >> 20U) + " MiB";
  if (bytes % (1U << 10U) == 0)
    return with_commas(bytes >> 10U) + " KiB";
  return with_commas(bytes) + " bytes";
}

std::string number_of(std::size_t count, const std::string& unit) {
  return with_commas(count) + ' ' + unit;
}

/// Every constant of `defaults.hpp`, as a document should write it.
std::map<std::string, std::string> defaults_in_words() {
  using namespace datastream::defaults;
  const auto time = [](auto duration, const std::string& unit) {
    return with_commas(static_cast<std::uint64_t>(duration.count())) + ' ' + unit;
  };
  return {
      {"mux_frames", number_of(mux_frames, "frames")},
      {"mux_frames_max", number_of(mux_frames_max, "frames")},
      {"mux_bytes", in_bytes(mux_bytes)},
      {"payload_bytes_max", in_bytes(payload_bytes_max)},
      {"slab_payload_max", in_bytes(slab_payload_max)},
      {"slab_bytes", in_bytes(slab_bytes)},
      {"batch_frames", number_of(batch_frames, "frames")},
      {"batch_bytes", in_bytes(batch_bytes)},
      {"subscription_frames", number_of(subscription_frames, "frames")},
      {"subscriber_actor_frames", number_of(subscriber_actor_frames, "frames")},
      {"subscriber_actor_frames_max", number_of(subscriber_actor_frames_max, "frames")},
      {"subscriber_actor_bytes_max", in_bytes(subscriber_actor_bytes_max)},
      {"subscriber_bytes", in_bytes(subscriber_bytes)},
      {"tick_interval", time(tick_interval, "µs")},
      {"idle_after", time(idle_after, "ms")},
      {"end_retry", time(end_retry, "ms")},
      {"quick_end_attempts", number_of(quick_end_attempts, "attempts")},
      {"health_interval_max", time(duration_cast<std::chrono::days>(health_interval_max), "days")},
      {"health_subscribers", number_of(health_subscribers, "subscribers")},
      {"health_name_bytes", in_bytes(health_name_bytes)},
      {"close_deadline", time(close_deadline, "ms")},
      {"connect_timeout", time(connect_timeout, "ms")},
      {"retry_first", time(retry_first, "ms")},
      {"retry_most", time(retry_most, "ms")},
      {"line_bytes", in_bytes(line_bytes)},
      {"actor_table", number_of(actor_table, "actors")},
      {"actor_table_bytes", in_bytes(actor_table_bytes)},
      {"tracked_channels", number_of(tracked_channels, "channels")},
      {"host_interval", time(host_interval, "ms")},
      {"gpu_timeout", time(gpu_timeout, "ms")},
      {"host_processes", number_of(host_processes, "processes")},
      {"claim_silence", time(claim_silence, "s")},
      {"admission_streams", number_of(admission_streams, "streams")},
      {"admission_names", in_bytes(admission_names)},
      {"admission_runs", number_of(admission_runs, "runs")},
      {"sender_frames", number_of(sender_frames, "frames")},
      {"sender_bytes", in_bytes(sender_bytes)},
      {"envelope_bytes_max", in_bytes(envelope_bytes_max)},
      {"datagram_buffer", in_bytes(datagram_buffer)},
      {"tcp_connections", number_of(tcp_connections, "connections")},
      {"keepalive_idle", time(keepalive_idle, "s")},
      {"keepalive_interval", time(keepalive_interval, "s")},
      {"keepalive_timeout", time(keepalive_timeout, "s")},
      {"archive_group_bytes", in_bytes(archive_group_bytes)},
      {"archive_group_delay", time(archive_group_delay, "ms")},
      {"archive_block_bytes", in_bytes(archive_block_bytes)},
      {"archive_stream_blocks_bytes", in_bytes(archive_stream_blocks_bytes)},
      {"archive_segment_bytes", in_bytes(archive_segment_bytes)},
      {"archive_index_bytes", in_bytes(archive_index_bytes)},
      {"archive_compared_frames", number_of(archive_compared_frames, "frames")},
      {"archive_retry", time(archive_retry, "ms")},
      {"archive_poll", time(archive_poll, "ms")},
      {"archive_reader_index_bytes", in_bytes(archive_reader_index_bytes)},
      {"archive_view_bytes", in_bytes(archive_view_bytes)},
      {"json_depth", number_of(json_depth, "levels")},
  };
}

bool is_text(const fs::path& file) {
  static const std::set<std::string> extensions = {".cpp",  ".hpp",   ".md", ".txt",
                                                   ".json", ".cmake", ".in", ""};
  return extensions.contains(file.extension().string()) &&
         file.string().find("/corpus/") == std::string::npos;
}

} // namespace

TEST_CASE("the_readme_shows_the_quickstart_as_it_is") {
  CHECK(fenced_blocks(read(source_dir() / "README.md"), "cpp") ==
        std::vector{read(source_dir() / "examples/quickstart.cpp")});
}

TEST_CASE("the_user_guide_shows_every_one_of_its_programs_as_it_is") {
  std::multiset<std::string> programs;
  for (const auto& entry : fs::directory_iterator(source_dir() / "examples/guide"))
    if (entry.path().extension() == ".cpp") {
      programs.insert(read(entry.path()));
      CAPTURE(entry.path().string());
      CHECK(std::ranges::count(read(entry.path()), '\n') <= 60);
    }
  const auto shown = fenced_blocks(read(source_dir() / "docs/user_guide.md"), "cpp");
  CHECK(std::multiset(shown.begin(), shown.end()) == programs);
  CHECK(programs.size() >= 10);
}

TEST_CASE("the_example_of_the_archive_format_is_the_golden_segment") {
  std::string example;
  for (const std::string& block :
       fenced_blocks(read(source_dir() / "docs/archive_format.md"), "hex"))
    for (const std::string& byte : captures(block, "([0-9a-f]{2})"))
      example += static_cast<char>(std::stoi(byte, nullptr, 16));
  CHECK(example == read(source_dir() / "tests/archive/golden/seg_0000000000001.0.dss"));
}

TEST_CASE("the_user_guide_names_every_key_of_the_configuration") {
  std::set<std::string> rows;
  for (const Row& row : table_rows(read(source_dir() / "docs/user_guide.md")))
    rows.merge(code_spans(row.cell("key")));
  const auto keys = captures(read(actors / "settings.hpp"), R"(///\s+(datastream\.[\w-]+))");
  CHECK(rows == std::set(keys.begin(), keys.end()));
  CHECK(keys.size() >= 6);
}

TEST_CASE("every_link_between_files_leads_somewhere") {
  std::size_t count = 0;
  for (const fs::path& document : documents()) {
    CAPTURE(document.string());
    for (const std::string& link : captures(prose(read(document), true), R"(\]\(([^)\s]+)\))")) {
      if (link.starts_with("http://") || link.starts_with("https://"))
        continue;
      CAPTURE(link);
      const auto hash = link.find('#');
      const std::string path = link.substr(0, hash);
      const fs::path target = path.empty() ? document : document.parent_path() / path;
      REQUIRE(fs::exists(target));
      if (hash != std::string::npos)
        CHECK(anchors(read(target)).contains(link.substr(hash + 1)));
      ++count;
    }
  }
  CHECK(count >= 30);
}

TEST_CASE("every_document_can_be_reached_from_the_readme") {
  const std::string readme = read(source_dir() / "README.md");
  for (const fs::path& document : documents())
    if (document.parent_path() == source_dir() / "docs") {
      CAPTURE(document.string());
      CHECK(readme.find("(docs/" + document.filename().string() + ")") != std::string::npos);
    }
}

TEST_CASE("every_test_that_the_invariants_name_exists") {
  check_tests_of("docs/invariants.md", 60);
}

TEST_CASE("every_test_that_the_coverage_of_the_specification_names_exists") {
  check_tests_of("docs/spec_coverage.md", 50);
}

TEST_CASE("every_test_that_the_list_of_failures_elsewhere_names_exists") {
  check_tests_of("docs/testing.md", 40);
}

TEST_CASE("every_numbered_section_of_the_specification_has_its_row") {
  std::set<std::string> rows;
  for (const Row& row : table_rows(read(source_dir() / "docs/spec_coverage.md")))
    for (const std::string& section : captures(row.cell("section"), R"((\d+\.\d+))"))
      rows.insert(section);
  const std::map<int, int> subsections = {{1, 1}, {2, 5}, {3, 4}, {4, 5}, {5, 9},
                                          {6, 4}, {7, 4}, {8, 4}, {9, 2}};
  for (const auto& [section, count] : subsections)
    for (int number = 1; number <= count; ++number) {
      const std::string name = std::to_string(section) + '.' + std::to_string(number);
      CAPTURE(name);
      CHECK(rows.contains(name));
    }
}

TEST_CASE("every_header_that_the_coverage_of_the_specification_names_exists") {
  const std::vector<fs::path> roots = {includes,
                                       actors.parent_path(),
                                       source_dir() / "libdatastream/testing/include/datastream",
                                       source_dir() / "libdatastream/archive/include/datastream",
                                       source_dir() / "legacy_envelope/include/datastream",
                                       source_dir() /
                                           "legacy_envelope/envelope_caf/include/datastream",
                                       source_dir() / "runtime_hooks/include/datastream",
                                       source_dir() / "runtime_hooks/hooks_caf/include/datastream"};
  std::size_t count = 0;
  for (const Row& row : table_rows(read(source_dir() / "docs/spec_coverage.md")))
    for (const std::string& span : code_spans(row.cell("where"))) {
      if (!span.ends_with(".hpp") && !span.ends_with('/'))
        continue;
      CAPTURE(span);
      CHECK(std::ranges::any_of(roots, [&](const auto& root) { return fs::exists(root / span); }));
      ++count;
    }
  CHECK(count >= 40);
}

TEST_CASE("every_message_has_its_row") {
  std::map<std::string, std::string> texts; // by atom
  const std::string messages = read(source_dir() / "docs/messages.md");
  for (const Row& row : table_rows(messages))
    for (const std::string& atom : code_spans(row.cell("message")))
      texts[atom] = row.cell("text");
  const std::string type_ids =
      read(actors / "type_ids.hpp") +
      read(source_dir() /
           "legacy_envelope/envelope_caf/include/datastream/envelope_caf/type_ids.hpp") +
      read(source_dir() / "actors/archive_actor/include/datastream/archive_actor/type_ids.hpp");
  const auto atoms = captures(type_ids, R"(CAF_ADD_ATOM\(\w+, datastream, (\w+),)");
  const auto atom_texts =
      captures(type_ids, R"re(CAF_ADD_ATOM\(\w+, datastream, \w+, "(\w+)"\))re");
  REQUIRE(atoms.size() >= 15);
  REQUIRE(atoms.size() == atom_texts.size());
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    CAPTURE(atoms[i]);
    CHECK(texts[atoms[i]] == '`' + atom_texts[i] + '`');
  }
  const auto spans = code_spans(prose(messages, true));
  for (std::string type : captures(type_ids, R"(CAF_ADD_TYPE_ID\(\w+, \((.+)\)\))")) {
    while (type.find("datastream::") != std::string::npos)
      type.erase(type.find("datastream::"), std::string("datastream::").size());
    CAPTURE(type);
    CHECK(spans.contains(type));
  }
}

TEST_CASE("every_error_of_an_actor_has_its_row") {
  std::set<std::string> rows;
  for (const Row& row : table_rows(read(source_dir() / "docs/messages.md")))
    rows.merge(code_spans(row.cell("error")));
  const std::string text = read(actors / "messages.hpp");
  const auto begin = text.find("enum class ActorError");
  REQUIRE(begin != std::string::npos);
  const auto names =
      captures(text.substr(begin, text.find("};", begin) - begin), R"(\n\s+(\w+)(?: = \d+)?,)");
  REQUIRE(names.size() >= 7);
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(rows.contains(name));
  }
}

TEST_CASE("every_default_has_its_line_with_its_value") {
  std::map<std::string, Row> rows;
  for (const Row& row : table_rows(read(source_dir() / "docs/decisions.md")))
    for (const std::string& name : code_spans(row.cell("name")))
      rows.emplace(name, row);
  const auto words = defaults_in_words();
  const auto names =
      captures(read(includes / "defaults.hpp"), R"(inline constexpr [\w:]+ (\w+)(?: =|\{))");
  REQUIRE(names.size() >= 15);
  for (const std::string& name : names) {
    CAPTURE(name);
    REQUIRE(words.contains(name));
    REQUIRE(rows.contains(name));
    CHECK(rows.at(name).cell("value") == words.at(name));
    CHECK_FALSE(rows.at(name).cell("why").empty());
  }
}

TEST_CASE("every_reason_of_loss_has_its_row_and_number") {
  std::map<std::string, std::string> rows;
  for (const Row& row : table_rows(read(source_dir() / "docs/invariants.md")))
    for (const std::string& name : code_spans(row.cell("reason")))
      rows[name] = row.cell("number");
  const std::string text = read(includes / "model/loss_reason.hpp");
  const auto names = captures(text, R"(\n  (\w+) = \d+,)");
  const auto numbers = captures(text, R"(\n  \w+ = (\d+),)");
  REQUIRE(names.size() >= 15);
  for (std::size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i]);
    CHECK(rows[names[i]] == numbers[i]);
  }
}

TEST_CASE("every_task_of_dev_that_a_document_names_exists") {
  const auto listed = captures(read(source_dir() / "dev"), R"(\n  ([a-z]+)(?: \[\w+| \[--| )+)");
  const std::set<std::string> tasks(listed.begin(), listed.end());
  REQUIRE(tasks.contains("run"));
  REQUIRE(tasks.contains("test"));
  std::size_t count = 0;
  for (const fs::path& document : documents()) {
    CAPTURE(document.string());
    for (const std::string& task : captures(read(document), R"(\./dev ([\w-]+))")) {
      CAPTURE(task);
      CHECK(tasks.contains(task));
      ++count;
    }
  }
  CHECK(count >= 10);
}

TEST_CASE("every_folder_of_tests_is_in_the_table_of_the_document_about_them") {
  std::string described;
  for (const Row& row : table_rows(read(source_dir() / "docs/testing.md")))
    described += row.cell("folder") + '\n';
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(source_dir() / "tests")) {
    if (!entry.is_directory())
      continue;
    const std::string folder = "tests/" + entry.path().filename().string() + '/';
    CAPTURE(folder);
    CHECK(described.find('`' + folder + '`') != std::string::npos);
    ++count;
  }
  CHECK(count >= 10);
}

TEST_CASE("every_benchmark_program_is_in_the_document_about_them") {
  const std::string readme = read(source_dir() / "bench/README.md");
  const auto programs = captures(read(source_dir() / "bench/CMakeLists.txt"),
                                 R"(add_executable\((datastream_bench\w*))");
  CHECK(programs.size() >= 4);
  for (const std::string& program : programs) {
    CAPTURE(program);
    if (program != "datastream_bench_store_memory") // which row 18 runs
      CHECK(readme.find("build/release/bench/" + program + ' ') != std::string::npos);
  }
}

TEST_CASE("the_changelog_begins_with_the_version_that_is_built") {
  const auto version =
      captures(read(source_dir() / "CMakeLists.txt"), R"(project\(datastream VERSION ([\d.]+))");
  const auto changes = captures(read(source_dir() / "CHANGELOG.md"), R"(\n## ([\d.]+))");
  REQUIRE(version.size() == 1);
  REQUIRE_FALSE(changes.empty());
  CHECK(changes.front() == version.front());
}

TEST_CASE("no_text_tells_where_or_with_what_it_was_made") {
  // Put together here, so that this file passes.
  const std::vector<std::string> words = {"/wo"
                                          "rk/",
                                          "/ro"
                                          "ot/",
                                          "/ho"
                                          "me/",
                                          "Clau"
                                          "de",
                                          "Anthro"
                                          "pic",
                                          "Chat"
                                          "GPT",
                                          "Copi"
                                          "lot"};
  std::size_t count = 0;
  for (const fs::path& file : all_files()) {
    if (!is_text(file))
      continue;
    const std::string text = read(file);
    CAPTURE(file.string());
    for (const std::string& word : words) {
      CAPTURE(word);
      CHECK(text.find(word) == std::string::npos);
    }
    ++count;
  }
  CHECK(count >= 100);
}
