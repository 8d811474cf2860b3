#include "peer_output.hpp"

#include <datastream/envelope/codec.hpp>
#include <datastream/envelope/framing.hpp>
#include <datastream/model/ids.hpp>

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace ds = datastream;

std::expected<std::uint64_t, std::string>
read_peer(int control, int output, const std::function<void(const ds::FrameBatch&)>& take) {
  ::close(control);
  ds::EnvelopeFraming framing;
  std::optional<ds::StreamId> stream;
  std::optional<ds::Position> last;
  std::uint64_t count = 0;
  for (;;) {
    const auto room = framing.room();
    const ssize_t bytes = ::read(output, room.data(), room.size());
    if (bytes < 0)
      return std::unexpected("cannot be read: " + std::generic_category().message(errno));
    if (bytes == 0)
      break;
    framing.fill(static_cast<std::size_t>(bytes));
    std::vector<ds::FrameView> frames; // they lie in the block of `framing`
    while (const auto envelope = framing.next()) {
      const auto decoded = ds::decode_envelope(*envelope);
      if (!decoded)
        return std::unexpected("no envelope: " + std::string(ds::to_string(decoded.error())));
      if (!stream)
        stream = decoded->stream();
      if (!decoded->belongs_to(*stream))
        return std::unexpected("frames of two streams");
      if (last && decoded->position <= *last)
        return std::unexpected("positions out of order");
      last = decoded->position;
      frames.push_back(decoded->frame());
    }
    if (framing.over_maximum())
      return std::unexpected("an envelope that is too large");
    if (frames.empty())
      continue;
    count += frames.size();
    take(ds::FrameBatch::copy_of(*stream, frames));
  }
  if (framing.incomplete() > 0)
    return std::unexpected("an envelope that is cut short");
  return count;
}
