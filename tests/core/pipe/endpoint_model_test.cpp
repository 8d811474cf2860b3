/// Random legal and illegal actions against an endpoint, and a plain model that says what each of
/// them must have done.

#include "pipe_support.hpp"

#include <datastream/model/health.hpp>
#include <datastream/model/loss_reason.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

using namespace datastream;
using namespace pipe_test;

namespace {

struct Payload {
  ChannelId channel;
  std::string bytes;
};

std::uint64_t units_for(std::size_t bytes) {
  return std::max<std::uint64_t>((bytes + 7) / 8, 1);
}

/// One subscriber, as the model knows it.
struct Reader {
  std::optional<DatastreamSubscription> pulled;
  std::shared_ptr<Inbox> inbox; ///< of a pushed one
  std::size_t seen = 0;         ///< deliveries of `inbox` that were looked at
  SubscriptionId id;
  SubscriberCapacity capacity;
  std::uint64_t snapshot_channels = 0; ///< ids up to this one were known when it came
  std::set<std::uint32_t> declared;
  std::deque<std::uint64_t> expected; ///< positions accepted for it; unused with a byte bound
  SubscriberCounts counts;
  std::uint64_t next_position = 0; ///< lowest that may still come
  std::uint64_t dropped_told = 0;
  std::deque<EventBatch> unacknowledged; ///< pushed
  bool told_end = false;

  bool byte_bound() const { return capacity.bytes < defaults::subscriber_bytes; }
};

class Run {
public:
  explicit Run(unsigned seed)
      : random_(seed), mux_frames_(between(1, 16)),
        mux_bytes_(chance(3) ? between(1, 200) * 8 : std::size_t{1} << 20U),
        endpoint_(stream_id, {.mux = {.frames = mux_frames_, .bytes = mux_bytes_}}),
        out_(endpoint_.producer()) {}

  void act() {
    switch (between(0, 15)) {
    case 0:
    case 1:
      return register_channel();
    case 2:
    case 3:
    case 4:
    case 5:
      return submit();
    case 6:
      return submit_many();
    case 7:
    case 8:
      return tick();
    case 9:
      return subscribe();
    case 10:
    case 11:
    case 12:
      return read();
    case 13:
      return unsubscribe();
    case 14:
      return chance(2) ? drain_directly() : stray_acknowledgement();
    default:
      if (chance(8))
        return end();
      return chance(3) ? health() : tick();
    }
  }

  void check() {
    const PipeLedger ledger = endpoint_.ledger();
    REQUIRE(ledger.refused == refused_);
    REQUIRE(ledger.in_mux == queue_.size());
    REQUIRE(ledger.assigned == log_.size());
    REQUIRE(ledger.published == published_);
    REQUIRE(ledger.bitbucketed == bitbucketed_);
    REQUIRE(ledger.drained_directly == direct_);
    REQUIRE(ledger.ended == ended_);
    REQUIRE(ledger.submitted() == submitted_);
    REQUIRE(ledger.balanced());
    REQUIRE(ledger.fanout.stray_acknowledgements == strays_);
    REQUIRE(ledger.fanout.departed == departed_);
    REQUIRE(ledger.fanout.subscribers.size() == readers_.size());
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      REQUIRE(ledger.fanout.subscribers[i].id == readers_[i].id);
      REQUIRE(ledger.fanout.subscribers[i].counts == readers_[i].counts);
    }
    REQUIRE(endpoint_.catalog()->version() == 1 + channels_.size());
  }

  /// Everybody reads everything: nobody may lack anything then.
  void finish() {
    tick();
    for (Reader& reader : readers_) {
      const auto read_again = [&] {
        return reader.pulled ? pull(reader) : acknowledge(reader, 99);
      };
      while (read_again())
        check();
      REQUIRE(reader.counts.outstanding == 0);
      REQUIRE(reader.expected.empty());
      REQUIRE(reader.dropped_told == reader.counts.dropped);
      REQUIRE(reader.snapshot_channels + reader.declared.size() == channels_.size());
      REQUIRE(reader.told_end == ended_);
    }
  }

private:
  std::size_t between(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random_);
  }
  bool chance(std::size_t of) { return between(1, of) == 1; }

  // --- what producers do

  void register_channel() {
    const std::string name(1, static_cast<char>('a' + between(0, 19)));
    const ChannelContent content = chance(2) ? ChannelContent(TextStream{}) : JsonRecord{name};
    const auto id = out_.try_register_channel(name, content);
    const auto known = channels_.find(name);
    if (known != channels_.end()) {
      REQUIRE(id.has_value() == (known->second == content));
      if (!id)
        REQUIRE(id.error().kind == CatalogError::Kind::conflicting_name);
    } else if (ended_) {
      REQUIRE(id.error().kind == CatalogError::Kind::stream_ended);
    } else {
      channels_.emplace(name, content);
      REQUIRE(*id == ChannelId{static_cast<std::uint32_t>(channels_.size())});
    }
  }

  Payload random_payload() {
    const std::size_t size = chance(20)   ? defaults::slab_payload_max + between(0, 100'000)
                             : chance(10) ? between(0, 20'000)
                                          : between(0, 64);
    // Also channels that nobody registered.
    return {ChannelId{static_cast<std::uint32_t>(between(0, 22))},
            std::string(size, static_cast<char>(between(0, 255)))};
  }

  /// What the mux must answer; it is queued if it is accepted.
  LossReason admit(const Payload& payload) {
    if (ended_)
      return LossReason::stream_ended;
    if (queue_.size() >= mux_frames_)
      return LossReason::mux_frames_full;
    std::uint64_t used = units_for(payload.bytes.size());
    for (const Payload& queued : queue_)
      used += units_for(queued.bytes.size());
    if (used > mux_bytes_ / 8)
      return LossReason::mux_bytes_full;
    queue_.push_back(payload);
    return {};
  }

  void count_refused(LossReason reason, std::uint64_t frames) {
    refused_.stream_ended += reason == LossReason::stream_ended ? frames : 0;
    refused_.mux_frames_full += reason == LossReason::mux_frames_full ? frames : 0;
    refused_.mux_bytes_full += reason == LossReason::mux_bytes_full ? frames : 0;
  }

  void expect_submitted(bool accepted, const Payload& payload) {
    ++submitted_;
    const LossReason reason = admit(payload);
    REQUIRE(accepted == (reason == LossReason{}));
    count_refused(reason, 1);
  }

  void submit() {
    const Payload payload = random_payload();
    switch (between(0, 3)) {
    case 0:
      return expect_submitted(out_.submit_bytes(payload.channel, payload.bytes), payload);
    case 1:
      return expect_submitted(out_.submit_bytes_owned(payload.channel, payload.bytes), payload);
    case 2:
      return expect_submitted(out_.submit_text_owned(payload.channel, payload.bytes), payload);
    default:
      return expect_submitted(out_.submit_text(payload.channel, payload.bytes), payload);
    }
  }

  void submit_many() {
    std::vector<Payload> payloads(between(0, 20));
    std::vector<std::string_view> views;
    for (Payload& payload : payloads) {
      payload = random_payload();
      payload.channel = ChannelId{1};
      views.push_back(payload.bytes);
    }
    const std::size_t accepted = out_.submit_many(ChannelId{1}, views);
    submitted_ += payloads.size();
    std::size_t expected = 0;
    LossReason reason{};
    while (expected < payloads.size() && reason == LossReason{}) {
      reason = admit(payloads[expected]);
      expected += reason == LossReason{} ? 1 : 0;
    }
    REQUIRE(accepted == expected);
    count_refused(reason, payloads.size() - expected);
  }

  void health() {
    const Payload record{ChannelId{}, encode_health(endpoint_.ledger())};
    const bool accepted = endpoint_.submit_health();
    if (!ended_)
      channels_.emplace(health_channel, JsonRecord{health_channel});
    Payload sent = record;
    sent.channel = out_.find_channel(health_channel).value_or(ChannelId{});
    expect_submitted(accepted, sent);
  }

  // --- what drains

  std::size_t assign() {
    const std::size_t count = queue_.size();
    for (Payload& payload : queue_)
      log_.push_back(std::move(payload));
    queue_.clear();
    return count;
  }

  /// `drained` frames, the last ones of the log, were offered to everybody.
  std::size_t offer(std::size_t drained) {
    const PipeLedger ledger = endpoint_.ledger();
    std::size_t delivered = 0;
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      Reader& reader = readers_[i];
      std::size_t accepted =
          std::min<std::uint64_t>(drained, reader.capacity.frames - reader.counts.outstanding);
      if (reader.byte_bound()) { // what blocks pin is not modelled: anything up to the bound
        const std::uint64_t now = ledger.fanout.subscribers.at(i).counts.outstanding;
        REQUIRE(now >= reader.counts.outstanding);
        REQUIRE(now - reader.counts.outstanding <= accepted);
        accepted = now - reader.counts.outstanding;
      } else {
        for (std::size_t k = 0; k < accepted; ++k)
          reader.expected.push_back(log_.size() - drained + k);
      }
      reader.counts.offered += drained;
      reader.counts.outstanding += accepted;
      reader.counts.dropped += drained - accepted;
      delivered += accepted;
    }
    return delivered;
  }

  void tick() {
    const EndpointTick tick = endpoint_.tick();
    const std::size_t drained = assign();
    const std::size_t delivered = offer(drained);
    (readers_.empty() ? bitbucketed_ : published_) += drained;
    REQUIRE(tick.drained == drained);
    REQUIRE(tick.delivered == delivered);
    REQUIRE(tick.subscribers == (drained ? readers_.size() : 0));
    REQUIRE(tick.delivered + tick.dropped_for_subscribers == tick.drained * tick.subscribers);
    look_at_inboxes();
  }

  void drain_directly() {
    std::vector<FrameBatch> batches;
    const std::size_t first = log_.size();
    const std::size_t drained = assign();
    REQUIRE(endpoint_.drain_directly(batches) == drained);
    direct_ += drained;
    std::size_t next = first;
    for (const FrameBatch& batch : batches)
      for (const FrameView& frame : batch)
        check_frame(frame, next++);
    REQUIRE(next == log_.size());
  }

  void end() {
    endpoint_.end_stream();
    if (!ended_) {
      const std::size_t drained = assign();
      offer(drained);
      (readers_.empty() ? bitbucketed_ : published_) += drained;
      ended_ = true;
    }
    look_at_inboxes();
  }

  // --- what subscribers do

  void subscribe() {
    if (readers_.size() == 5)
      return;
    Reader reader;
    reader.capacity.frames = between(1, 16);
    if (chance(3))
      reader.capacity.bytes = between(0, 2000);
    SubscriptionRequest request;
    if (chance(3))
      request.channels = channel_filter::Name{"a"};
    std::vector<StreamStart> starts;
    if (chance(2)) {
      reader.pulled = endpoint_.subscribe("pulled", request, reader.capacity);
      reader.id = reader.pulled->id();
      starts = reader.pulled->starts();
    } else {
      reader.inbox = std::make_shared<Inbox>();
      const auto start = endpoint_.attach("pushed", request, reader.capacity,
                                          std::make_unique<InboxSink>(reader.inbox));
      reader.id = start.id;
      starts = start.starts;
    }
    reader.snapshot_channels = channels_.size();
    reader.next_position = log_.size();
    REQUIRE(starts == std::vector<StreamStart>{{stream_id, Position{log_.size()}}});
    readers_.push_back(std::move(reader));
  }

  void check_frame(const FrameView& frame, std::uint64_t position) const {
    REQUIRE(frame.position == Position{position});
    REQUIRE(position < log_.size());
    REQUIRE(frame.channel == log_[position].channel);
    REQUIRE(frame.payload == log_[position].bytes);
  }

  void check_delivery(Reader& reader, const EventBatch& delivery) const {
    REQUIRE(delivery.subscription == reader.id);
    REQUIRE(!reader.told_end);
    for (const Declaration& declaration : delivery.declarations) {
      const auto& channel = std::get<ChannelDescriptorPtr>(declaration);
      REQUIRE(channel->id.value > reader.snapshot_channels);
      REQUIRE(reader.declared.insert(channel->id.value).second);
    }
    REQUIRE(delivery.dropped >= reader.dropped_told);
    REQUIRE(delivery.dropped <= reader.counts.dropped);
    reader.dropped_told = delivery.dropped;
    for (const FrameView& frame : delivery.frames) {
      REQUIRE(frame.position.value >= reader.next_position);
      check_frame(frame, frame.position.value);
      if (!reader.byte_bound()) {
        REQUIRE(!reader.expected.empty());
        REQUIRE(reader.expected.front() == frame.position.value);
        reader.expected.pop_front();
      }
      reader.next_position = frame.position.value + 1;
      const std::uint32_t id = frame.channel.value;
      if (id > reader.snapshot_channels && id <= channels_at_.at(frame.position.value))
        REQUIRE(reader.declared.contains(id));
    }
    if (delivery.ended) {
      REQUIRE(ended_);
      REQUIRE(delivery.ended->assigned == log_.size());
      reader.told_end = true;
    }
  }

  void look_at_inboxes() {
    channels_at_.resize(log_.size(), channels_.size());
    for (Reader& reader : readers_)
      if (reader.inbox)
        look_at_inbox(reader);
  }

  void look_at_inbox(Reader& reader) {
    const auto all = reader.inbox->all();
    for (; reader.seen < all.size(); ++reader.seen) {
      REQUIRE(all[reader.seen].sequence == reader.seen + 1);
      check_delivery(reader, all[reader.seen]);
      reader.unacknowledged.push_back(all[reader.seen]);
    }
    std::size_t frames = 0;
    std::size_t bytes = 0;
    std::size_t notices = 0;
    for (const EventBatch& delivery : reader.unacknowledged) {
      frames += delivery.frames.size();
      bytes += delivery.frames.pinned_bytes();
      notices += delivery.frames.empty() && !delivery.ended ? 1 : 0;
    }
    REQUIRE(frames == reader.counts.outstanding);
    REQUIRE(frames <= reader.capacity.frames);
    REQUIRE(bytes <= reader.capacity.bytes);
    REQUIRE(notices <= 1);
  }

  bool pull(Reader& reader) {
    channels_at_.resize(log_.size(), channels_.size());
    const auto delivery = reader.pulled->try_recv();
    if (!delivery) {
      REQUIRE(delivery.error() == (ended_ ? RecvError::disconnected : RecvError::empty));
      return false;
    }
    reader.counts.outstanding -= delivery->frames.size();
    reader.counts.acknowledged += delivery->frames.size();
    check_delivery(reader, *delivery);
    return true;
  }

  bool acknowledge(Reader& reader, std::size_t at_most) {
    if (reader.unacknowledged.empty())
      return false;
    std::uint64_t sequence = 0;
    for (; at_most > 0 && !reader.unacknowledged.empty(); --at_most) {
      const EventBatch delivery = reader.unacknowledged.front();
      reader.unacknowledged.pop_front();
      sequence = delivery.sequence;
      reader.counts.outstanding -= delivery.frames.size();
      reader.counts.acknowledged += delivery.frames.size();
    }
    REQUIRE(endpoint_.acknowledge(reader.id, sequence));
    look_at_inboxes();
    return true;
  }

  void read() {
    if (readers_.empty())
      return;
    Reader& reader = readers_[between(0, readers_.size() - 1)];
    if (reader.pulled)
      pull(reader);
    else
      acknowledge(reader, between(1, 3));
  }

  void stray_acknowledgement() {
    if (readers_.empty() || chance(3)) {
      REQUIRE(!endpoint_.acknowledge(SubscriptionId{1'000'000}, 1));
    } else {
      const Reader& reader = readers_[between(0, readers_.size() - 1)];
      REQUIRE(!endpoint_.acknowledge(reader.id, chance(2) ? 0 : reader.seen + 1));
    }
    ++strays_;
  }

  void unsubscribe() {
    if (readers_.empty() || !chance(3))
      return;
    const std::size_t which = between(0, readers_.size() - 1);
    Reader reader = std::move(readers_[which]);
    readers_.erase(readers_.begin() + static_cast<std::ptrdiff_t>(which));
    reader.counts.abandoned = std::exchange(reader.counts.outstanding, 0);
    departed_ += reader.counts;
    if (!reader.pulled) {
      REQUIRE(endpoint_.unsubscribe(reader.id));
      REQUIRE(!endpoint_.unsubscribe(reader.id));
    } else if (chance(2)) {
      reader.pulled->unsubscribe();
      REQUIRE(reader.pulled->try_recv().error() == RecvError::disconnected);
      REQUIRE(reader.pulled->counts() == reader.counts);
    }
  }

  std::mt19937 random_;
  const std::size_t mux_frames_;
  const std::size_t mux_bytes_;
  DatastreamEndpoint endpoint_;
  DatastreamProducer out_;

  std::map<std::string, ChannelContent> channels_;
  std::deque<Payload> queue_;
  std::vector<Payload> log_;               // by position
  std::vector<std::uint64_t> channels_at_; // by position: channels known when it was assigned
  std::vector<Reader> readers_;
  RefusedCounts refused_;
  SubscriberCounts departed_;
  std::uint64_t submitted_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t bitbucketed_ = 0;
  std::uint64_t direct_ = 0;
  std::uint64_t strays_ = 0;
  bool ended_ = false;
};

} // namespace

TEST_CASE("long_legal_action_sequences_never_violate_telemetry_invariants") {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Run run(seed);
    for (int step = 0; step < 250; ++step) {
      CAPTURE(step);
      run.act();
      run.check();
    }
    run.finish();
  }
}
