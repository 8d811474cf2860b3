// Listens to `node.cpp` from another process: shows its merged log as it comes, once as a viewer
// that keeps up and once as one that is too slow; keeps it in an archive; passes it on to
// `reader.cpp`; and says in the end whether the ledgers of all three programs balance, and whether
// what is in the archive, and what came over the legacy envelope, here and to `peer.py`, is the
// same stream.

#include "messages.hpp"
#include "peer_output.hpp"
#include "relay.hpp"
#include "report.hpp"
#include "sink_store.hpp"
#include "viewer.hpp"

#include <datastream/actors.hpp>
#include <datastream/archive_actor/archive_actor.hpp>
#include <datastream/caf/load.hpp>
#include <datastream/caf/monitors.hpp>
#include <datastream/caf/render.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/envelope_caf/type_ids.hpp>

#include <caf/io/middleman.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <string>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF
using namespace std::chrono_literals;
using namespace word_index;

namespace {

struct Config : caf::actor_system_config {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string archive = "word_index.archive";
  int peer_control = -1;

  Config() {
    ds::recommended_settings(*this);
    opt_group{custom_options_, "global"}
        .add(host, "host", "where the node runs")
        .add(port, "port", "where the node listens")
        .add(archive, "archive", "directory of the archive")
        .add(peer_control, "peer-control",
             "descriptor that ends the peer's input when it is closed");
  }
};

int exit_status = EXIT_FAILURE;

void say(caf::scoped_actor& self, const std::string& what, const caf::error& error) {
  std::cerr << what << ": " << compat::render(self->system(), error) << '\n';
}

/// Ends what ships the stream over the legacy envelope, and compares what came with `log`. A way
/// that cannot be compared has nothing in common with it.
void read_envelopes(caf::scoped_actor& self, const caf::actor& node, const caf::actor& log,
                    SinkStore& sink_store, int peer_control, Accounts& accounts) {
  compat::request(self.ptr(), node, 60s, shipped_atom_v)
      .receive(
          [&](const Shipped& to_sink, const Shipped& to_peer) {
            accounts.envelope.node = to_sink;
            accounts.udp.node = to_peer;
          },
          [&](const caf::error& error) { say(self, "no account of the envelopes", error); });
  const auto compare_for = [&](EnvelopeAccount& account) {
    return [&](const ds::FrameBatch& part) {
      compat::request(self.ptr(), log, 60s, overlap_atom_v, ds::FramePage{.frames = part})
          .receive([&](const Overlap& overlap) { account.overlap += overlap; },
                   [&](const caf::error& error) {
                     say(self, "cannot compare", error);
                     account.overlap.frames += part.size();
                   });
    };
  };
  if (const auto stored = sink_store.read(self, compare_for(accounts.envelope))) {
    accounts.envelope.received = *stored;
  } else {
    say(self, "cannot read the sink's store", stored.error());
    accounts.envelope.overlap = {};
  }
  if (const auto came = read_peer(peer_control, STDIN_FILENO, compare_for(accounts.udp))) {
    accounts.udp.received = *came;
  } else {
    std::cerr << "the peer's output: " << came.error() << '\n';
    accounts.udp.overlap = {};
  }
}

/// What the archive has, as it says itself, and as the reader finds it.
void read_archive(caf::scoped_actor& self, const caf::actor& archive, const std::string& directory,
                  const caf::actor& reader, const caf::actor& log, ArchiveAccount& account) {
  const auto failed = [&](const caf::error& error) { say(self, "cannot read the archive", error); };
  compat::request(self.ptr(), archive, 60s, ds::flush_atom_v).receive([](std::uint64_t) {}, failed);
  compat::request(self.ptr(), archive, 60s, ds::ledger_atom_v)
      .receive([&](const ds::ArchiveStatus& status) { account.kept = status; }, failed);
  compat::request(self.ptr(), reader, 60s, reread_atom_v, directory, log)
      .receive([&](const Reread& reread) { account.reread = reread; }, failed);
}

void caf_main(caf::actor_system& system, const Config& config) {
  caf::scoped_actor self{system};
  const auto fail = [&](const std::string& what, const caf::error& error) {
    say(self, what, error);
  };

  const auto node = system.middleman().remote_actor(config.host, config.port);
  if (!node)
    return fail("cannot reach the node", node.error());
  caf::actor endpoint;
  compat::request(self.ptr(), *node, 10s, endpoint_atom_v)
      .receive([&](const caf::actor& actor) { endpoint = actor; },
               [&](const caf::error& error) { fail("no endpoint", error); });
  if (!endpoint)
    return;
  const ds::EndpointRef stream{endpoint};

  // Before work begins: everything is kept.
  const auto archive = ds::spawn_archive(system, config.archive);
  if (!archive) {
    std::cerr << archive.error() << '\n';
    return;
  }
  ds::SubscriptionId archived;
  compat::request(self.ptr(), *archive, 10s, ds::follow_atom_v, endpoint)
      .receive([&](const ds::SubscriptionStart& start) { archived = start.id; },
               [&](const caf::error& error) { fail("the archive does not follow", error); });

  // And the node ships its stream to a sink here, and to the peer.
  SinkStore sink_store{system};
  const auto sink_port = ds::publish(system, sink_store.sink(), 0);
  if (!sink_port)
    return fail("cannot listen", sink_port.error());
  bool ships = false;
  compat::request(self.ptr(), *node, 10s, ship_atom_v, *sink_port)
      .receive([&] { ships = true; },
               [&](const caf::error& error) { fail("the node does not ship", error); });
  if (!ships)
    return;

  // What the reader subscribes to, and where it reports: two ports, the first line of the output.
  const caf::actor fanout = ds::spawn_fanout(system);
  ds::Publisher publisher{system};
  const auto offered = publisher.offer(stream_name, ds::EndpointRef(fanout));
  const auto port = ds::publish(system, publisher.actor(), 0);
  const auto report_port = ds::publish(system, caf::actor(self), 0);
  if (!offered || !port || !report_port)
    return fail("cannot listen", !offered ? offered.error()
                                 : !port  ? port.error()
                                          : report_port.error());
  std::cout << *port << ' ' << *report_port << '\n' << std::flush;

  // The second viewer takes so long for each delivery, and may leave so little unacknowledged,
  // that it loses most of the stream. It blocks, so it has a thread of its own.
  const auto log = system.spawn<Viewer>(stream, caf::actor(self), ViewerOptions{.title = "log"});
  const auto slow = system.spawn<Viewer, caf::detached>(
      stream, caf::actor(self),
      ViewerOptions{.title = "slow", .pause = 40ms, .capacity = {256, 1U << 20U}});
  const auto passing_on = system.spawn(relay, stream, fanout, caf::actor(self));

  std::size_t subscribed = 0;
  const auto count_subscribed = [&] {
    if (++subscribed == 4) // two viewers, relay and reader
      compat::send(self.ptr(), *node, start_atom_v);
  };
  std::map<std::string, Report> reports;
  std::optional<ds::SubscriptionId> relayed;
  caf::actor reader;
  std::optional<compat::DownWatch> reader_watch;
  bool lost = false;
  self->receive_while([&] { return (reports.size() < 3 || !relayed) && !lost; })(
      [&](subscribed_atom) { count_subscribed(); },
      [&](subscribed_atom, const caf::actor& sender) {
        reader = sender;
        reader_watch.emplace(reader, caf::actor(self), lost_atom_v);
        count_subscribed();
      },
      [&](const Report& report) { reports[report.title] = report; },
      [&](relayed_atom, ds::SubscriptionId id) { relayed = id; },
      [&](lost_atom, const caf::error& reason) {
        fail("the node or the reader is gone", reason);
        lost = true;
      });

  if (!lost) {
    Accounts accounts{.log = reports["log"],
                      .slow = reports["slow"],
                      .reader = reports["far"],
                      .relay = *relayed,
                      .archive = {.subscription = archived}};
    compat::request(self.ptr(), *node, 10s, tally_atom_v)
        .receive(
            [&](std::uint64_t accepted, std::uint64_t refused) {
              accounts.callers_accepted = accepted;
              accounts.callers_refused = refused;
            },
            [&](const caf::error& error) { fail("no tally", error); });
    compat::request(self.ptr(), endpoint, 10s, ds::ledger_atom_v)
        .receive([&](const ds::PipeLedger& ledger) { accounts.pipe = ledger; },
                 [&](const caf::error& error) { fail("no ledger of the node", error); });
    compat::request(self.ptr(), fanout, 10s, ds::ledger_atom_v)
        .receive([&](const ds::PublicationLedger& ledger) { accounts.fanout = ledger; },
                 [&](const caf::error& error) { fail("no ledger of the fanout", error); });
    read_archive(self, *archive, config.archive, reader, log, accounts.archive);
    read_envelopes(self, *node, log, sink_store, config.peer_control, accounts);
    exit_status = print_report(std::cout, accounts) ? EXIT_SUCCESS : EXIT_FAILURE;
    compat::send(self.ptr(), *node, done_atom_v);
    compat::send(self.ptr(), reader, done_atom_v);
  }
  for (const caf::actor& each : {log, slow, passing_on, fanout, *archive})
    caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
}

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, SIG_IGN); // the node ends its stream, and that ends this program
  const int status =
      compat::exec_main<caf::io::middleman, caf::id_block::datastream,
                        caf::id_block::datastream_archive, caf::id_block::datastream_envelope,
                        caf::id_block::word_index>(caf_main, argc, argv);
  return status != EXIT_SUCCESS ? status : exit_status;
}
