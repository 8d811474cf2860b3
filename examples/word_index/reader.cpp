// Reads what `collector.cpp` passes on, from a third process, which knows nothing of the node; and
// in the end what the collector's archive has, from its files. It may be started before the
// collector listens.

#include "messages.hpp"
#include "reread.hpp"
#include "viewer.hpp"

#include <datastream/actors.hpp>
#include <datastream/caf/load.hpp>
#include <datastream/caf/render.hpp>
#include <datastream/caf/send.hpp>

#include <caf/io/middleman.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF
using namespace std::chrono_literals;
using namespace word_index;

namespace {

struct Config : caf::actor_system_config {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::uint16_t report_port = 0;

  Config() {
    ds::recommended_settings(*this);
    opt_group{custom_options_, "global"}
        .add(host, "host", "where the collector runs")
        .add(port, "port", "where it offers its stream")
        .add(report_port, "report-port", "where it takes reports");
  }
};

int exit_status = EXIT_FAILURE;

void caf_main(caf::actor_system& system, const Config& config) {
  caf::scoped_actor self{system};
  const auto fail = [&](const std::string& what, const caf::error& error) {
    std::cerr << what << ": " << compat::render(system, error) << '\n';
  };

  // Takes its time over every delivery, so that the fanout drops a part of what it is offered.
  const auto viewer = system.spawn<Viewer, caf::detached>(
      ds::RemoteEndpoint{.host = config.host, .port = config.port, .name = stream_name},
      caf::actor(self), ViewerOptions{.title = "far", .pause = 2ms, .capacity = {512, 16U << 20U}});

  caf::actor collector;
  bool done = false;
  bool lost = false;
  self->receive_while([&] { return !done && !lost; })(
      [&](subscribed_atom) {
        const auto found = system.middleman().remote_actor(config.host, config.report_port);
        if (found) {
          collector = *found;
          compat::send(self.ptr(), collector, subscribed_atom_v, caf::actor(self));
        } else {
          fail("cannot reach the collector", found.error());
          lost = true;
        }
      },
      [&](const Report& report) { compat::send(self.ptr(), collector, report); },
      [&](reread_atom, const std::string& archive, const caf::actor& log) {
        return reread(self, archive, log);
      },
      [&](done_atom) { done = true; },
      [&](lost_atom, const caf::error& reason) {
        fail("the collector is gone", reason);
        lost = true;
      });
  if (done)
    exit_status = EXIT_SUCCESS;
  caf::anon_send_exit(viewer, caf::exit_reason::user_shutdown);
}

} // namespace

int main(int argc, char** argv) {
  const int status =
      compat::exec_main<caf::io::middleman, caf::id_block::datastream, caf::id_block::word_index>(
          caf_main, argc, argv);
  return status != EXIT_SUCCESS ? status : exit_status;
}
