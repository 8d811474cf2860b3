/// datastream_bench_store_memory: fills one store and prints what it takes, in bytes a frame beyond
/// the payload, as the process's resident memory grew. A program of its own, because memory that a
/// process has used before does not show when it is used again.

#include "harness/payloads.hpp"
#include "harness/process.hpp"
#include "harness/require.hpp"
#include "mux_sides.hpp"
#include "reference/bytes.hpp"
#include "reference/simple/store.hpp"

#include <datastream/ingest/store.hpp>
#include <datastream/pipe/mux.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace bench;

/// As a collector gets them: batches out of a mux, kept by reference.
datastream::Store batches_from_mux(const PayloadSet& payloads, std::size_t frames) {
  datastream::Mux mux{{"bench", {1}}, {.frames = mux_frames}};
  datastream::Store store;
  datastream::StoredStream& stream = store.open(mux.stream_id());
  std::vector<datastream::FrameBatch> batches;
  std::size_t stored = 0;
  for (std::size_t sequence = 0; sequence < frames;) {
    for (const std::size_t end = std::min(frames, sequence + frames_a_tick); sequence < end;
         ++sequence)
      require(mux.submit({1}, payloads[sequence]), "a mux with room accepts");
    mux.drain(batches);
    for (const datastream::FrameBatch& batch : batches)
      stored += stream.accept(batch);
    batches.clear();
  }
  require(stored == frames, "every frame is stored");
  return store;
}

datastream::Store copied(const PayloadSet& payloads, std::size_t frames) {
  datastream::Store store;
  datastream::StoredStream& stream = store.open({"bench", {1}});
  for (std::uint64_t position = 0; position < frames; ++position)
    stream.accept({{1}, {position}, payloads[position], {}});
  require(stream.size() == frames, "every frame is stored");
  return store;
}

reference::simple::Store map(const PayloadSet& payloads, std::size_t frames) {
  reference::simple::Store store;
  std::size_t stored = 0;
  for (std::uint64_t position = 0; position < frames; ++position)
    stored += store.accept({"bench", 1}, {1, position, reference::to_bytes(payloads[position])});
  require(stored == frames, "every frame is stored");
  return store;
}

template <class Fill>
int print_overhead(Fill fill, const PayloadSet& payloads, std::size_t frames) {
  const std::size_t before = resident_bytes();
  const auto store = fill(payloads, frames);
  const std::size_t grown = resident_bytes() - before;
  fmt::print("{}\n", static_cast<double>(grown) / static_cast<double>(frames) -
                         static_cast<double>(payloads.size()));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  require(argc == 4, "usage: datastream_bench_store_memory batches|copies|simple bytes frames");
  const std::string_view store = argv[1];
  const PayloadSet payloads{std::stoul(argv[2])};
  const std::size_t frames = std::stoul(argv[3]);
  keep_freed_memory();
  if (store == "batches")
    return print_overhead(batches_from_mux, payloads, frames);
  if (store == "copies")
    return print_overhead(copied, payloads, frames);
  require(store == "simple", "the store is one of the three");
  return print_overhead(map, payloads, frames);
}
