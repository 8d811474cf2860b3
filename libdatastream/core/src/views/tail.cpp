#include <datastream/views/tail.hpp>

#include <algorithm>
#include <iterator>

namespace datastream {

StoredStream::Frames tail(const StoredStream& stream, std::size_t count) {
  const auto frames = stream.frames();
  const auto steps = static_cast<std::ptrdiff_t>(std::min(count, stream.size()));
  return {std::ranges::prev(frames.end(), steps), frames.end()};
}

} // namespace datastream
