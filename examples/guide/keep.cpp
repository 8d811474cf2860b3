// Keeps a stream in an archive, and reads it back from the files.
#include <datastream/actors.hpp>
#include <datastream/archive/archive_reader.hpp>
#include <datastream/archive_actor/archive_actor.hpp>
#include <datastream/caf/send.hpp>

#include <chrono>
#include <iostream>
#include <string>

namespace ds = datastream;

void read_back(const std::string& directory, const ds::StreamId& id) {
  auto archive = ds::ArchiveReader::open(directory); // in any process, while it is written or later
  if (!archive) {
    std::cerr << archive.error() << '\n';
    return;
  }
  const auto stream = archive->stream(id); // or archive->streams(): all there are
  if (!stream) {
    std::cerr << stream.error() << '\n';
    return;
  }
  for (const ds::FrameView& frame : stream->frames()) // throws where a block cannot be read
    std::cout << '#' << frame.position << ' ' << frame.payload << '\n';
}

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  const auto archive =
      ds::spawn_archive(system, "demo-archive", {.acknowledges = ds::ArchiveAcknowledges::durable});
  if (!archive) {
    std::cerr << archive.error() << '\n';
    return;
  }
  ds::Endpoint node{system, {.node = "demo"}};
  caf::scoped_actor self{system};
  ds::compat::request(self.ptr(), *archive, std::chrono::seconds(10), ds::follow_atom_v,
                      node.ref().actor())
      .receive([](const ds::SubscriptionStart&) {},
               [](const caf::error&) { std::cerr << "the archive refused\n"; });

  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  node.close(); // and what was acknowledged is durable, unless the archive is in trouble

  read_back("demo-archive", node.stream_id());
  caf::anon_send_exit(*archive, caf::exit_reason::user_shutdown);
}

CAF_MAIN(caf::id_block::datastream, caf::id_block::datastream_archive)
