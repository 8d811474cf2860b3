/// Runs what the fuzz targets of envelopes check on their seed corpora.

#include "../fuzz/fuzz_envelope.hpp"
#include "../fuzz/fuzz_envelope_framing.hpp"

#include <doctest/doctest.h>

#include <fuzz_corpus.hpp>

TEST_CASE("the_corpus_of_envelopes_holds") {
  datastream::test::replay_corpus("fuzz_envelope", datastream::fuzz::envelope_holds);
}

TEST_CASE("the_corpus_of_framed_envelopes_holds") {
  datastream::test::replay_corpus("fuzz_envelope_framing",
                                  datastream::fuzz::envelope_framing_holds);
}
