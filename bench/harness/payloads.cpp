#include "harness/payloads.hpp"

#include <random>

namespace bench {

PayloadSet::PayloadSet(std::size_t size) {
  require(size >= sizeof(std::uint64_t), "a payload has room for the light check");
  std::mt19937_64 random(size);
  for (std::string& payload : payloads_) {
    payload.resize(size);
    for (char& byte : payload)
      byte = static_cast<char>(random());
  }
}

Tally expected_tally(const PayloadSet& payloads, std::uint64_t frames, std::uint64_t producers) {
  Tally tally;
  for (std::uint64_t producer = 0; producer < producers; ++producer)
    for (std::uint64_t sequence = 0; sequence < frames; ++sequence)
      tally(0, producer * frames + sequence, payloads[sequence]);
  return tally;
}

} // namespace bench
