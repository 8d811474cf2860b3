// A program that does real work with actors and says what it does and how it is: a pool of workers
// indexes the words of the files below a folder. `collector.cpp` is the program that listens.

#include "messages.hpp"
#include "self_observation.hpp"
#include "shipping.hpp"
#include "tally.hpp"

#include <datastream/actors.hpp>
#include <datastream/caf/load.hpp>
#include <datastream/caf/monitors.hpp>
#include <datastream/caf/render.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/envelope_caf/type_ids.hpp>
#include <datastream/hooks_caf/actor_observer.hpp>
#include <datastream/hooks_caf/spawn_observed.hpp>

#include <caf/io/middleman.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF
namespace fs = std::filesystem;

namespace {

struct Config : caf::actor_system_config {
  std::string folder = "/usr/include";
  std::uint32_t seconds = 8;
  bool watch = false;
  std::uint16_t peer_port = 0;
  ds::ActorObserver observer;

  Config() {
    observer.install(*this);
    ds::recommended_settings(*this);
    opt_group{custom_options_, "global"}
        .add(folder, "folder", "where the files to index are")
        .add(seconds, "seconds", "how long to work")
        .add(watch, "watch", "work until interrupted")
        .add(peer_port, "peer-port", "where a peer on this machine takes envelopes over UDP");
  }
};

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error; // unreadable folders are left out
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                           error);
       at != fs::recursive_directory_iterator(); at.increment(error))
    if (at->is_regular_file(error))
      files.push_back(at->path().string());
  std::ranges::sort(files);
  return files;
}

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3ULL;
  return hash;
}

/// Indexes one file at a time and emits four frames about it: text, two records, and bytes.
class Indexer {
public:
  explicit Indexer(const ds::DatastreamProducer& out)
      : out_(out), log_(out.register_channel("index.log", ds::TextStream{})),
        digest_(out.register_channel("index.digest", ds::Bytes{})),
        file_(out.register_record<word_index::FileIndexed>()),
        words_(out.register_record<word_index::TopWords>()) {}

  void index(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(in), {});
    if (!in.is_open()) {
      tally.count(out_.submit_text(log_, "cannot read " + path));
      return;
    }
    word_index::FileIndexed summary{.path = path, .bytes = text_.size()};
    summary.lines = static_cast<std::uint32_t>(std::ranges::count(text_, '\n'));
    summary.words = count_words();
    tally.count(out_.submit_text(log_, "indexed " + path));
    tally.count(out_.submit_record(file_, summary));
    tally.count(out_.submit_record(words_, top_words()));
    const auto hash = std::bit_cast<std::array<std::byte, 8>>(fnv1a(text_));
    tally.count(out_.submit_bytes(digest_, hash));
  }

  Tally tally;

private:
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  std::uint32_t count_words() {
    counts_.clear();
    std::uint32_t total = 0;
    const std::string_view text(text_);
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = begin;
      while (end < text.size() && is_letter(text[end]))
        ++end;
      if (end - begin > 3) { // shorter ones say little
        ++counts_[text.substr(begin, end - begin)];
        ++total;
      }
      begin = end + 1;
    }
    return total;
  }

  word_index::TopWords top_words() const {
    std::vector<std::pair<std::uint32_t, std::string_view>> ranked;
    ranked.reserve(counts_.size());
    for (const auto& [word, count] : counts_)
      ranked.emplace_back(count, word);
    const auto most = std::min<std::size_t>(ranked.size(), 8);
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(most),
                      ranked.end(), std::greater<>());
    word_index::TopWords top;
    for (std::size_t i = 0; i < most; ++i)
      top.counts.emplace(ranked[i].second, ranked[i].first);
    return top;
  }

  ds::DatastreamProducer out_;
  ds::ChannelId log_, digest_, file_, words_;
  std::string text_;
  std::unordered_map<std::string_view, std::uint32_t> counts_;
};

struct WorkerState {
  static inline const char* name = "indexer";
};

/// A worker of the pool: indexes the file that it is sent, answers what `submit` has said so far.
caf::behavior worker(caf::stateful_actor<WorkerState>*, const ds::DatastreamProducer& out) {
  auto indexer = std::make_shared<Indexer>(out);
  return {[indexer](const std::string& path) -> caf::result<std::uint64_t, std::uint64_t> {
    indexer->index(path);
    return {indexer->tally.accepted, indexer->tally.refused};
  }};
}

/// Hands the files to the workers, over and over, until it is time to stop; then ends the stream.
class Coordinator : public caf::event_based_actor {
public:
  Coordinator(caf::actor_config& config, ds::EndpointRef endpoint,
              const ds::DatastreamProducer& out, caf::actor shipping, const Config& options)
      : event_based_actor(config), endpoint_(std::move(endpoint)), out_(out),
        shipping_(std::move(shipping)), options_(options), files_(files_below(options.folder)) {
    for (int i = 0; i < 2; ++i)
      workers_.push_back({ds::spawn_observed(system(), worker, out), {}});
  }

  const char* name() const override { return "coordinator"; }

  caf::behavior make_behavior() override {
    return {
        [this](word_index::endpoint_atom) { return endpoint_.actor(); },
        [this](word_index::ship_atom ask, std::uint16_t sink_port) {
          return compat::delegate(this, shipping_, ask, sink_port);
        },
        [this](word_index::shipped_atom ask) { return compat::delegate(this, shipping_, ask); },
        [this](word_index::start_atom) {
          const auto listener = caf::actor_cast<caf::actor>(current_sender());
          listening_.emplace(listener, caf::actor(this), word_index::done_atom_v);
          self_.emplace(options_.observer, out_, options_.folder);
          if (!options_.watch)
            compat::delayed_send(this, caf::actor(this), std::chrono::seconds(options_.seconds),
                                 word_index::stop_atom_v);
          for (std::size_t i = 0; i < workers_.size(); ++i)
            give(i);
        },
        [this](word_index::stop_atom) {
          stopping_ = true;
          end_if_idle();
        },
        [this](word_index::tally_atom) -> caf::result<std::uint64_t, std::uint64_t> {
          Tally sum = self_ ? self_->tally() : Tally();
          for (const Worker& each : workers_)
            sum += each.tally;
          return {sum.accepted, sum.refused};
        },
        [this](word_index::done_atom) { quit(); },
        [this](word_index::done_atom, const caf::error&) { quit(); }, // nobody listens any more
    };
  }

  void on_exit() override {
    self_.reset();
    for (const Worker& each : workers_)
      caf::anon_send_exit(each.actor, caf::exit_reason::user_shutdown);
    workers_.clear();
    endpoint_ = {};
    shipping_ = nullptr;
  }

private:
  struct Worker {
    caf::actor actor;
    Tally tally;
  };

  void give(std::size_t index) {
    if (stopping_ || files_.empty()) {
      end_if_idle();
      return;
    }
    ++busy_;
    compat::request(this, workers_[index].actor, caf::infinite, files_[next_++ % files_.size()])
        .then([this, index](std::uint64_t accepted, std::uint64_t refused) {
          --busy_;
          workers_[index].tally = {accepted, refused};
          give(index);
        });
  }

  void end_if_idle() {
    if (busy_ > 0)
      return;
    if (self_)
      self_->stop();
    compat::request(this, endpoint_.actor(), caf::infinite, ds::end_atom_v)
        .then([](const ds::PipeLedger&) {});
  }

  ds::EndpointRef endpoint_;
  ds::DatastreamProducer out_;
  caf::actor shipping_; // answers what blocks
  const Config& options_;
  std::vector<std::string> files_;
  std::optional<SelfObservation> self_; // while the node works
  std::vector<Worker> workers_;
  std::optional<compat::DownWatch> listening_; // tells when the listener is gone
  std::size_t next_ = 0;
  std::size_t busy_ = 0;
  bool stopping_ = false;
};

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

void caf_main(caf::actor_system& system, const Config& config) {
  caf::scoped_actor self{system};
  ds::Endpoint node{system, {.node = "word-index", .label = "indexes " + config.folder}};
  const auto coordinator =
      system.spawn<Coordinator>(node.ref(), node.producer(), caf::actor(self), config);
  const auto port = system.middleman().publish(coordinator, 0, "127.0.0.1");
  if (!port) {
    std::cerr << "cannot listen: " << compat::render(system, port.error()) << '\n';
    caf::anon_send_exit(coordinator, caf::exit_reason::user_shutdown);
    return;
  }
  std::cout << *port << '\n' << std::flush; // whoever started this program connects there

  std::jthread signals([&](const std::stop_token& stop) {
    const sigset_t awaited = stop_signals();
    const timespec patience{.tv_sec = 0, .tv_nsec = 100'000'000};
    while (!stop.stop_requested())
      if (sigtimedwait(&awaited, nullptr, &patience) > 0)
        compat::anon_send(coordinator, word_index::stop_atom_v);
  });
  ship_until_down(self, node, config.peer_port, coordinator);
}

} // namespace

int main(int argc, char** argv) {
  const sigset_t signals = stop_signals(); // handled by one thread: see `caf_main`
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return compat::exec_main<caf::io::middleman, caf::id_block::datastream,
                           caf::id_block::datastream_envelope, caf::id_block::word_index>(
      caf_main, argc, argv);
}
