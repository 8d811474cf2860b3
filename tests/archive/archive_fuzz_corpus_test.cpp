/// Runs what the fuzz targets of the archive check on their seed corpora.

#include "../fuzz/fuzz_archive.hpp"
#include "../fuzz/fuzz_json_line.hpp"

#include <doctest/doctest.h>

#include <fuzz_corpus.hpp>

TEST_CASE("the_corpus_of_parts_of_an_archive_holds") {
  datastream::test::replay_corpus("fuzz_archive", datastream::fuzz::archive_holds);
}

TEST_CASE("the_corpus_of_lines_of_json_holds") {
  datastream::test::replay_corpus("fuzz_json_line", datastream::fuzz::json_line_holds);
}
