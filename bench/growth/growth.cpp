#include "growth/growth.hpp"

#include <algorithm>
#include <iterator>

namespace bench {

double Growth::cost(std::size_t size, std::size_t together) const {
  const std::size_t runs = std::max<std::size_t>(together / size, 1);
  double sum = 0;
  for (std::size_t run = 0; run < runs; ++run)
    sum += once(size);
  return sum / static_cast<double>(runs);
}

std::vector<std::size_t> sizes_up_to(std::size_t largest) {
  return {largest / 100, largest * 3 / 100, largest / 10, largest * 3 / 10, largest};
}

std::vector<Growth> all_growth() {
  std::vector<Growth> all;
  for (auto* growth : {channel_growth, stream_growth, subscriber_growth, frame_growth})
    std::ranges::move(growth(), std::back_inserter(all));
  return all;
}

} // namespace bench
