#include "reader.hpp"

#include "messages.hpp"

#include <datastream/caf/send.hpp>
#include <datastream/views/channel_names.hpp>
#include <datastream/views/merged_log.hpp>
#include <datastream/views/metric_series.hpp>

#include <iostream>
#include <sstream>
#include <thread>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF
using namespace std::chrono_literals;

namespace {

/// Kept of the stream, so that `--watch` may go on for days.
constexpr ds::Retention retention{.frames = 1'000'000};
constexpr auto show_interval = 1000ms;
constexpr std::size_t lines_at_once = 4;
constexpr std::size_t line_width = 110;

} // namespace

Reader::Reader(caf::actor_config& config, ds::EndpointRef endpoint, caf::actor owner,
               ReaderOptions options)
    : event_based_actor(config), endpoint_(std::move(endpoint)), owner_(std::move(owner)),
      options_(std::move(options)), subscriber_(this), consumer_(retention) {}

caf::behavior Reader::make_behavior() {
  subscriber_.subscribe(endpoint_,
                        {.on_batch =
                             [this](const ds::EventBatch& batch) {
                               consumer_.accept(batch);
                               if (options_.pause.count() > 0)
                                 std::this_thread::sleep_for(options_.pause);
                               // After this delivery is acknowledged, so that the node's ledger
                               // knows of it.
                               if (batch.ended)
                                 compat::send(this, caf::actor(this), word_index::finish_atom_v);
                             },
                         .on_start =
                             [this](const ds::SubscriptionStart& start) {
                               consumer_.begin(start);
                               subscription_ = start.id;
                               stream_ = start.starts.front().stream;
                               shown_until_ = start.starts.front().from;
                               compat::send(this, owner_, word_index::subscribed_atom_v);
                               compat::send(this, caf::actor(this), word_index::show_atom_v);
                             },
                         .on_down =
                             [this](const caf::error& reason) {
                               compat::send(this, owner_, word_index::lost_atom_v, reason);
                             }},
                        {.name = options_.title, .capacity = options_.capacity});
  return subscriber_.handlers(
      [this](word_index::show_atom) {
        show();
        if (!ended_)
          compat::delayed_send(this, caf::actor(this), show_interval, word_index::show_atom_v);
      },
      [this](word_index::finish_atom) {
        ended_ = true;
        show();
        compat::send(this, owner_, report());
      });
}

/// Prints the first few entries of the merged log that were not shown yet, and how many follow.
void Reader::show() {
  const ds::StoredStream& stored = *consumer_.store().find(stream_);
  const auto catalog = consumer_.catalog().snapshot().snapshot;
  const ds::ChannelNames names(catalog, stream_);
  const auto log = ds::merged_log_with_names(stored, ds::registry_of(catalog, stream_),
                                             std::cref(names), shown_until_);
  std::ostringstream out;
  std::size_t lines = 0;
  std::size_t more = 0;
  std::uint64_t missing = 0;
  for (const ds::LogEntry& entry : log) {
    if (const auto* frame = std::get_if<ds::LogFrame>(&entry))
      shown_until_ = ds::Position{frame->frame.position.value + 1};
    if (lines < lines_at_once) {
      std::string line = to_string(entry);
      if (line.size() > line_width)
        line.replace(line_width - 3, std::string::npos, "...");
      out << options_.title << " | " << line << '\n';
      ++lines;
    } else if (const auto* gap = std::get_if<ds::GapSpan>(&entry)) {
      missing += gap->count();
    } else {
      ++more;
    }
  }
  if (more + missing > 0) {
    out << options_.title << " |    ... and " << more << " more frames";
    if (missing > 0)
      out << ", " << missing << " missing between them";
    out << '\n';
  }
  std::cout << out.str() << std::flush;
}

ReaderReport Reader::report() const {
  const ds::StoredStream& stored = *consumer_.store().find(stream_);
  ReaderReport result;
  result.title = options_.title;
  result.subscription = subscription_;
  result.ledger = stored.ledger();
  std::map<ds::ChannelId, ReaderReport::Channel> channels;
  for (const ds::FrameView& frame : stored.frames()) {
    ReaderReport::Channel& channel = channels[frame.channel];
    ++channel.frames;
    channel.bytes += frame.payload.size();
  }
  for (auto& [id, channel] : channels) {
    channel.name = consumer_.channel_name(stream_, id);
    result.channels.push_back(channel);
  }
  if (const auto words = consumer_.catalog().find_channel(stream_, word_index::TopWords::CHANNEL))
    for (const auto& point : ds::metric_series_on<word_index::TopWords>(stored, words->id))
      for (const auto& [word, count] : point.record.counts)
        result.words[word] += count;
  return result;
}
