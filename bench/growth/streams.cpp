/// Streams, as a collector has them: each sends a small batch now and then.

#include "growth/growth.hpp"
#include "harness/clock.hpp"
#include "harness/payloads.hpp"
#include "harness/process.hpp"
#include "harness/require.hpp"

#include <datastream/ingest/consumer.hpp>
#include <datastream/pipe/delivery_fanout.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench {
namespace {

using datastream::Consumer;
using datastream::DeliveryFanout;
using datastream::FrameBatch;
using datastream::StreamId;

constexpr std::size_t batch_frames = 10;
constexpr std::size_t batches_a_stream = 10;
constexpr std::size_t frames_a_stream = batch_frames * batches_a_stream;

const PayloadSet& payloads() {
  static const PayloadSet set{120};
  return set;
}

StreamId stream_id(std::size_t number) {
  return {fmt::format("node-{}", number), {1}};
}

/// A stream's batch number `number`, from 0.
FrameBatch make_batch(const StreamId& stream, std::uint64_t number) {
  std::array<datastream::FrameView, batch_frames> frames;
  for (std::uint64_t i = 0; i < batch_frames; ++i) {
    const std::uint64_t position = number * batch_frames + i;
    frames[i] = {{1}, {position}, payloads()[position], {}};
  }
  return FrameBatch::copy_of(stream, frames);
}

/// Has `take` take `batches_a_stream` batches of each stream, the streams in turn. Batches are made
/// just before, a hundred at a time and not on the clock, as if they had just arrived. Returns the
/// nanoseconds a frame.
template <class Take>
double cost_of_taking(std::size_t streams, Take take) {
  constexpr std::size_t arrivals = 100;
  double elapsed_ns = 0;
  std::vector<FrameBatch> arrived;
  const auto take_arrived = [&] {
    const Stopwatch watch{Clock::thread_cpu};
    for (const FrameBatch& batch : arrived)
      take(batch);
    elapsed_ns += watch.elapsed_ns();
    arrived.clear();
  };
  for (std::uint64_t number = 0; number < batches_a_stream; ++number)
    for (std::size_t stream = 0; stream < streams; ++stream) {
      arrived.push_back(make_batch(stream_id(stream), number));
      if (arrived.size() == arrivals)
        take_arrived();
    }
  take_arrived();
  return elapsed_ns / static_cast<double>(streams * frames_a_stream);
}

double passing_on(std::size_t streams) {
  DeliveryFanout fanout;
  auto subscription = fanout.subscribe("reader");
  Tally tally;
  const double cost = cost_of_taking(streams, [&](const FrameBatch& batch) {
    fanout.publish(batch);
    while (const auto taken = subscription.try_recv())
      for (const datastream::FrameView& frame : taken->frames)
        tally(frame.channel.value, frame.position.value, frame.payload);
  });
  require(tally.frames == streams * frames_a_stream, "every frame arrives");
  require(tally.words == expected_tally(payloads(), frames_a_stream).words * streams,
          "every frame arrives whole");
  return cost;
}

double storing(std::size_t streams) {
  Consumer consumer;
  const double cost =
      cost_of_taking(streams, [&](const FrameBatch& batch) { consumer.accept(batch); });
  require(consumer.store().size() == streams, "every stream is stored");
  for (const datastream::StoredStream& stream : consumer.store()) {
    Tally tally;
    for (const datastream::FrameView& frame : stream.frames())
      tally(frame.channel.value, frame.position.value, frame.payload);
    require(tally == expected_tally(payloads(), frames_a_stream), "every frame is stored whole");
    require(stream.ledger().balanced(), "the ledger balances");
  }
  return cost;
}

/// What a fanout keeps of a stream that nobody waits for any more.
double fanout_memory(std::size_t streams) {
  const std::size_t before = heap_bytes();
  DeliveryFanout fanout;
  for (std::size_t stream = 0; stream < streams; ++stream)
    fanout.publish(make_batch(stream_id(stream), 0));
  return static_cast<double>(heap_bytes() - before) / static_cast<double>(streams);
}

/// What a consumer keeps of a stream beyond the payloads, all in.
double consumer_memory(std::size_t streams) {
  const std::size_t before = heap_bytes();
  Consumer consumer;
  for (std::size_t stream = 0; stream < streams; ++stream)
    consumer.accept(make_batch(stream_id(stream), 0));
  return static_cast<double>(heap_bytes() - before) / static_cast<double>(streams) -
         static_cast<double>(batch_frames * payloads().size());
}

/// Notes the ends that it is told of, and how far.
class EndCounter final : public datastream::SubscriberSink {
public:
  EndCounter(std::size_t& ends, std::uint64_t& sequence) : ends_(ends), sequence_(sequence) {}
  void deliver(datastream::EventBatch batch) override {
    ends_ += batch.ended ? 1 : 0;
    sequence_ = batch.sequence;
  }

private:
  std::size_t& ends_;
  std::uint64_t& sequence_;
};

/// Who comes when they have all ended is told of them and of their ends.
double joining(std::size_t streams) {
  DeliveryFanout fanout;
  for (std::size_t stream = 0; stream < streams; ++stream)
    fanout.end_stream(stream_id(stream), 0);
  std::size_t ends = 0;
  std::uint64_t sequence = 0;
  const Stopwatch watch{Clock::thread_cpu};
  const auto start = fanout.attach("late", datastream::SubscriptionRequest::all(), {},
                                   std::make_unique<EndCounter>(ends, sequence));
  fanout.refresh();
  while (ends < streams && fanout.acknowledge(start.id, sequence)) {
  }
  const double cost = watch.elapsed_ns() / static_cast<double>(streams);
  require(start.starts.size() == streams && start.snapshot.streams.size() == streams,
          "a subscription begins with every stream");
  require(ends == streams, "every end is told");
  return cost;
}

} // namespace

std::vector<Growth> stream_growth() {
  constexpr std::size_t largest = 10'000;
  return {{"streams", "publish and receive", "ns a frame", largest, passing_on},
          {"streams", "store", "ns a frame", largest, storing},
          {"streams", "subscribe after their ends", "ns each", largest, joining},
          {"streams", "in a fanout", "bytes each", largest, fanout_memory},
          {"streams", "in a consumer", "bytes each", largest, consumer_memory}};
}

} // namespace bench
