#include "reread.hpp"

#include <datastream/actors/messages.hpp>
#include <datastream/archive/archive_reader.hpp>
#include <datastream/caf/send.hpp>

#include <caf/error.hpp>
#include <caf/sec.hpp>

#include <chrono>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF
using namespace std::chrono_literals;
using namespace word_index;

caf::result<Reread> reread(caf::scoped_actor& self, const std::string& directory,
                           const caf::actor& log) {
  const auto failed = [](const ds::ArchiveError& error) {
    return caf::make_error(caf::sec::runtime_error, error.message);
  };
  auto reader = ds::ArchiveReader::open(directory);
  if (!reader)
    return failed(reader.error());
  auto cursor = reader->read_from({0});
  if (!cursor)
    return failed(cursor.error());
  Reread result;
  while (true) {
    const auto batch = cursor->next();
    if (!batch)
      return failed(batch.error());
    if (!*batch)
      return result;
    const ds::FrameBatch& frames = (*batch)->frames;
    if (frames.empty())
      continue;
    result.frames += frames.size();
    caf::error error;
    compat::request(self.ptr(), log, 60s, overlap_atom_v, ds::FramePage{.frames = frames})
        .receive([&](const Overlap& overlap) { result.overlap += overlap; },
                 [&](caf::error& reason) { error = std::move(reason); });
    if (error)
      return error;
  }
}
