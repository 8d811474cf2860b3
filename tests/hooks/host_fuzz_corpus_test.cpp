/// Runs what the fuzz target of host texts checks on its seed corpus.

#include "../fuzz/fuzz_host_text.hpp"

#include <doctest/doctest.h>

#include <fuzz_corpus.hpp>

TEST_CASE("the_corpus_of_host_texts_holds") {
  datastream::test::replay_corpus("fuzz_host_text", datastream::fuzz::host_text_holds);
}
