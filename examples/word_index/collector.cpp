// Listens to `node.cpp` from another process: shows its merged log as it comes, once as a reader
// that keeps up and once as one that is too slow, and in the end whether the ledgers balance.

#include "messages.hpp"
#include "reader.hpp"
#include "report.hpp"

#include <datastream/actors.hpp>
#include <datastream/caf/load.hpp>
#include <datastream/caf/render.hpp>
#include <datastream/caf/send.hpp>

#include <caf/io/middleman.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF

namespace {

struct Config : caf::actor_system_config {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;

  Config() {
    ds::recommended_settings(*this);
    opt_group{custom_options_, "global"}
        .add(host, "host", "where the node runs")
        .add(port, "port", "where the node listens");
  }
};

int exit_status = EXIT_FAILURE;

void caf_main(caf::actor_system& system, const Config& config) {
  using namespace std::chrono_literals;
  caf::scoped_actor self{system};
  const auto fail = [&](const std::string& what, const caf::error& error) {
    std::cerr << what << ": " << compat::render(system, error) << '\n';
  };

  const auto node = system.middleman().remote_actor(config.host, config.port);
  if (!node)
    return fail("cannot reach the node", node.error());
  caf::actor endpoint;
  compat::request(self.ptr(), *node, 10s, word_index::endpoint_atom_v)
      .receive([&](const caf::actor& actor) { endpoint = actor; },
               [&](const caf::error& error) { fail("no endpoint", error); });
  if (!endpoint)
    return;

  // The second reader takes so long for each delivery, and may leave so little unacknowledged,
  // that it loses most of the stream. It blocks, so it has a thread of its own.
  const auto keeping_up = system.spawn<Reader>(ds::EndpointRef(endpoint), caf::actor(self),
                                               ReaderOptions{.title = "log "});
  const auto slow = system.spawn<Reader, caf::detached>(
      ds::EndpointRef(endpoint), caf::actor(self),
      ReaderOptions{.title = "slow", .pause = 40ms, .capacity = {256, 1U << 20U}});

  std::map<std::string, ReaderReport> reports;
  std::size_t subscribed = 0;
  bool lost = false;
  self->receive_while([&] { return reports.size() < 2 && !lost; })(
      [&](word_index::subscribed_atom) {
        if (++subscribed == 2)
          compat::send(self.ptr(), *node, word_index::start_atom_v);
      },
      [&](const ReaderReport& report) { reports[report.title] = report; },
      [&](word_index::lost_atom, const caf::error& reason) {
        fail("the node is gone", reason);
        lost = true;
      });

  if (!lost) {
    Accounts accounts;
    compat::request(self.ptr(), *node, 10s, word_index::tally_atom_v)
        .receive(
            [&](std::uint64_t accepted, std::uint64_t refused) {
              accounts.callers_accepted = accepted;
              accounts.callers_refused = refused;
            },
            [&](const caf::error& error) { fail("no tally", error); });
    compat::request(self.ptr(), endpoint, 10s, ds::ledger_atom_v)
        .receive([&](const ds::PipeLedger& ledger) { accounts.pipe = ledger; },
                 [&](const caf::error& error) { fail("no ledger", error); });
    accounts.readers = {reports["log "], reports["slow"]};
    exit_status = print_report(std::cout, accounts) ? EXIT_SUCCESS : EXIT_FAILURE;
    compat::send(self.ptr(), *node, word_index::done_atom_v);
  }
  self->send_exit(keeping_up, caf::exit_reason::user_shutdown);
  self->send_exit(slow, caf::exit_reason::user_shutdown);
}

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, SIG_IGN); // the node ends its stream, and that ends this program
  const int status =
      compat::exec_main<caf::io::middleman, caf::id_block::datastream, caf::id_block::word_index,
                        caf::id_block::word_index_collector>(caf_main, argc, argv);
  return status != EXIT_SUCCESS ? status : exit_status;
}
