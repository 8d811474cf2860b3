#include "viewer.hpp"

#include "overlap.hpp"
#include "vitals.hpp"

#include <datastream/caf/send.hpp>
#include <datastream/views/channel_names.hpp>
#include <datastream/views/merged_log.hpp>
#include <datastream/views/metric_series.hpp>

#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF
using namespace std::chrono_literals;
using namespace word_index;

namespace {

constexpr auto show_interval = 1000ms;
constexpr std::size_t lines_at_once = 4;
constexpr std::size_t line_width = 110;

} // namespace

Viewer::Viewer(caf::actor_config& config, Source source, caf::actor owner, ViewerOptions options)
    : event_based_actor(config), source_(std::move(source)), owner_(std::move(owner)),
      options_(std::move(options)), subscriber_(this), consumer_(retention) {}

caf::behavior Viewer::make_behavior() {
  const ds::SubscriptionHandlers handlers{
      .on_batch =
          [this](const ds::EventBatch& batch) {
            consumer_.accept(batch);
            if (options_.pause.count() > 0)
              std::this_thread::sleep_for(options_.pause);
            if (std::chrono::steady_clock::now() >= show_next_)
              show();
            // After this delivery is acknowledged, so that the sender's ledger knows of it.
            if (batch.ended)
              compat::send(this, caf::actor(this), finish_atom_v);
          },
      .on_start =
          [this](const ds::SubscriptionStart& start) {
            consumer_.begin(start);
            subscription_ = start.id;
            compat::send(this, owner_, subscribed_atom_v);
          },
      .on_down =
          [this](const caf::error& reason) { compat::send(this, owner_, lost_atom_v, reason); },
  };
  std::visit(
      [&](const auto& source) {
        subscriber_.subscribe(source, handlers,
                              {.name = options_.title, .capacity = options_.capacity});
      },
      source_);
  return subscriber_.handlers(
      [this](finish_atom) {
        show();
        compat::send(this, owner_, report());
      },
      [this](overlap_atom, const ds::FramePage& other) {
        const ds::StoredStream* stream = stored();
        return stream ? overlap(*stream, other.frames) : Overlap{.frames = other.frames.size()};
      });
}

/// The only stream that comes, once it is known.
const ds::StoredStream* Viewer::stored() const {
  const auto streams = consumer_.store().stream_ids();
  return streams.empty() ? nullptr : consumer_.store().find(streams.front());
}

/// Prints the first few entries of the merged log that were not shown yet, and how many follow.
void Viewer::show() {
  show_next_ = std::chrono::steady_clock::now() + show_interval;
  const ds::StoredStream* stream = stored();
  if (!stream)
    return;
  const auto catalog = consumer_.catalog().snapshot().snapshot;
  const ds::ChannelNames names(catalog, stream->id());
  const auto log = ds::merged_log_with_names(*stream, ds::registry_of(catalog, stream->id()),
                                             std::cref(names), shown_until_);
  std::ostringstream out;
  const auto begin_line = [&]() -> std::ostream& {
    return out << std::left << std::setw(4) << options_.title << " | ";
  };
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
      begin_line() << line << '\n';
      ++lines;
    } else if (const auto* gap = std::get_if<ds::GapSpan>(&entry)) {
      missing += gap->count();
    } else {
      ++more;
    }
  }
  if (more + missing > 0) {
    begin_line() << "   ... and " << more << " more frames";
    if (missing > 0)
      out << ", " << missing << " missing between them";
    out << '\n';
  }
  std::cout << out.str() << std::flush;
}

Report Viewer::report() const {
  const ds::StoredStream& stream = *stored();
  Report result;
  result.title = options_.title;
  result.subscription = subscription_;
  result.ledger = stream.ledger();
  std::map<ds::ChannelId, ChannelTotal> channels;
  for (const ds::FrameView& frame : stream.frames()) {
    ChannelTotal& channel = channels[frame.channel];
    ++channel.frames;
    channel.bytes += frame.payload.size();
  }
  for (auto& [id, channel] : channels) {
    channel.name = consumer_.channel_name(stream.id(), id);
    result.channels.push_back(channel);
  }
  if (const auto words = consumer_.catalog().find_channel(stream.id(), TopWords::CHANNEL))
    for (const auto& point : ds::metric_series_on<TopWords>(stream, words->id))
      for (const auto& [word, count] : point.record.counts)
        result.words[word] += count;
  result.vitals = vitals_of(stream, consumer_.catalog());
  return result;
}
