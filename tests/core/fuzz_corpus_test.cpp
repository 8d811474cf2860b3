/// Runs what the fuzz targets check on their seed corpora.

#include "../fuzz/fuzz_actors.hpp"
#include "../fuzz/fuzz_body.hpp"
#include "../fuzz/fuzz_frame_batch.hpp"
#include "../fuzz/fuzz_lines.hpp"
#include "../fuzz/fuzz_model_json.hpp"

#include <doctest/doctest.h>

#include <fuzz_corpus.hpp>

using datastream::test::replay_corpus;

TEST_CASE("the_corpus_of_model_json_holds") {
  replay_corpus("fuzz_model_json", datastream::fuzz::model_json_holds);
}

TEST_CASE("the_corpus_of_bodies_holds") {
  replay_corpus("fuzz_body", datastream::fuzz::body_holds);
}

TEST_CASE("the_corpus_of_frame_batches_holds") {
  replay_corpus("fuzz_frame_batch", datastream::fuzz::frame_batch_holds);
}

TEST_CASE("the_corpus_of_lines_holds") {
  replay_corpus("fuzz_lines", datastream::fuzz::lines_hold);
}

TEST_CASE("the_corpus_of_actors_holds") {
  replay_corpus("fuzz_actors", datastream::fuzz::actors_hold);
}
