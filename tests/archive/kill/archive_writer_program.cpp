/// Writes an archive at full speed until it is killed, or told how much.
///
///     archive_writer_program DIRECTORY LIFE POSITION [FRAMES]
///
/// One stream goes on at POSITION, which is sent again if need be; two begin anew, as of this LIFE.
/// Says `opening`, `opened`, and from then on `acknowledged N M`: that the positions below N of the
/// first stream and those below M of the others are durable.

#include "written_frames.hpp"

#include <datastream/archive/archive.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>

using namespace datastream;
using namespace datastream::test;

int main(int count, char** words) {
  if (count < 4)
    return 2;
  const std::uint64_t life = std::strtoull(words[2], nullptr, 10);
  const std::uint64_t begin = std::strtoull(words[3], nullptr, 10);
  const std::uint64_t wanted = count > 4 ? std::strtoull(words[4], nullptr, 10) : UINT64_MAX;

  std::cout << "opening" << std::endl;
  std::atomic<std::uint64_t> committed{0};
  ArchiveOptions options = small_segments();
  options.events.committed = [&](std::uint64_t ticket) { committed = ticket; };
  auto archive = Archive::open(words[1], std::move(options));
  if (!archive) {
    std::cerr << archive.error() << std::endl;
    return 1;
  }
  std::cout << "opened" << std::endl;

  struct Taken {
    std::uint64_t ticket;
    std::uint64_t frames; ///< of each stream, since the beginning
  };
  std::deque<Taken> taken;
  const auto tell = [&](std::uint64_t ticket) {
    std::optional<std::uint64_t> frames;
    for (; !taken.empty() && taken.front().ticket <= ticket; taken.pop_front())
      frames = taken.front().frames;
    if (frames)
      std::cout << "acknowledged " << begin + *frames << ' ' << *frames << std::endl;
  };
  for (std::uint64_t done = 0; done < wanted;) {
    // Batches of all sizes, so that groups and segments end anywhere.
    const std::uint64_t size = std::min<std::uint64_t>(1 + done * 7 % 60, wanted - done);
    std::uint64_t ticket = 0;
    for (const auto& [stream, first] :
         {std::pair(steady_stream(), begin + done), std::pair(reborn_stream("reborn", life), done),
          std::pair(reborn_stream("reborn too", life), done)}) {
      const auto appended = (*archive)->append(written_frames(stream, first, size));
      if (appended.not_stored != 0 || appended.conflicts != 0)
        return 1;
      ticket = std::max(ticket, appended.ticket);
    }
    done += size;
    taken.push_back({ticket, done});
    tell(committed);
  }
  if (const auto closed = (*archive)->close(); !closed) {
    std::cerr << closed.error() << std::endl;
    return 1;
  }
  tell(UINT64_MAX);
}
