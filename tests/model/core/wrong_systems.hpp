#pragma once
/// Systems that do one thing wrong, as a pipe with a fault in it would. The model must notice each.

#include "core_system.hpp"

#include <datastream/model/frame_batch.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace datastream::model_test {

/// A refused submission is missing from the ledger.
class LosesACount final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  PipeLedger ledger() override {
    PipeLedger ledger = CoreSystem::ledger();
    if (ledger.refused.mux_frames_full > 0)
      --ledger.refused.mux_frames_full;
    return ledger;
  }
};

/// The first frame of one delivery never comes.
class LosesAFrame final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  std::expected<EventBatch, RecvError> pull(ReaderKey reader) override {
    auto delivery = CoreSystem::pull(reader);
    if (delivery && !delivery->frames.empty() && ++deliveries_ == 2)
      delivery->frames = delivery->frames.slice(1, delivery->frames.size() - 1);
    return delivery;
  }

private:
  int deliveries_ = 0;
};

/// A pushed reader gets one frame again.
class DeliversAFrameTwice final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  std::vector<EventBatch> received(ReaderKey reader) override {
    auto deliveries = CoreSystem::received(reader);
    for (EventBatch& delivery : deliveries)
      if (!delivery.frames.empty() && ++deliveries_ == 3) {
        std::vector<FrameView> frames(delivery.frames.begin(), delivery.frames.end());
        frames.push_back(frames.back());
        delivery.frames = FrameBatch::copy_of(delivery.frames.stream(), frames);
      }
    return deliveries;
  }

private:
  int deliveries_ = 0;
};

/// A channel is declared with the delivery behind that of its first frame.
class DeclaresTooLate final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  std::expected<EventBatch, RecvError> pull(ReaderKey reader) override {
    auto delivery = CoreSystem::pull(reader);
    if (delivery && !delivery->frames.empty())
      std::swap(delivery->declarations, held_back_[reader]);
    return delivery;
  }

private:
  std::map<ReaderKey, std::vector<Declaration>> held_back_;
};

/// Two frames of a delivery change places.
class ReordersFrames final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  std::vector<EventBatch> received(ReaderKey reader) override {
    auto deliveries = CoreSystem::received(reader);
    for (EventBatch& delivery : deliveries)
      if (delivery.frames.size() > 1) {
        std::vector<FrameView> frames(delivery.frames.begin(), delivery.frames.end());
        std::swap(frames.front(), frames.back());
        delivery.frames = FrameBatch::copy_of(delivery.frames.stream(), frames);
      }
    return deliveries;
  }
};

/// A refused submission leaves a hole in the positions.
class LeavesAHole final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  bool submit(std::size_t producer, SubmitAs how, ChannelId channel,
              const std::string& payload) override {
    const bool accepted = CoreSystem::submit(producer, how, channel, payload);
    refused_ |= !accepted;
    return accepted;
  }
  std::vector<FrameBatch> drain_directly() override {
    auto batches = CoreSystem::drain_directly();
    if (refused_)
      for (FrameBatch& batch : batches) {
        std::vector<Frame> frames;
        for (const FrameView& frame : batch)
          frames.push_back({frame.channel, {frame.position.value + 1}, std::string(frame.payload)});
        batch = FrameBatch::copy_of(batch.stream(), frames);
      }
    return batches;
  }

private:
  bool refused_ = false;
};

/// A slow reader costs another one its frames.
class LetsReadersDisturbEachOther final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  EndpointTick tick() override {
    const EndpointTick tick = CoreSystem::tick();
    disturbed_ = tick.dropped_for_subscribers > 0 && tick.delivered > 0;
    return tick;
  }
  std::expected<EventBatch, RecvError> pull(ReaderKey reader) override {
    auto delivery = CoreSystem::pull(reader);
    if (delivery && delivery->frames.size() > 1 && std::exchange(disturbed_, false))
      delivery->frames = delivery->frames.slice(0, delivery->frames.size() - 1);
    return delivery;
  }

private:
  bool disturbed_ = false;
};

/// The last one of a position wins.
class StoresTheLastOne final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  void store(const EventBatch& events, StoreAs form) override {
    CoreSystem::store(events, form);
    for (const FrameView& frame : events.frames)
      latest_[{events.frames.stream(), frame.position}] = frame.payload;
  }
  StoredPage page(const StreamId& stream, Position from, std::uint32_t at_most) override {
    StoredPage page = CoreSystem::page(stream, from, at_most);
    for (Frame& frame : page.frames)
      frame.payload = latest_.at({stream, frame.position});
    return page;
  }

private:
  std::map<std::pair<StreamId, Position>, std::string> latest_;
};

/// What was counted of a stream that is forgotten is forgotten with it.
class ForgetsCounts final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  ForgottenLedger forgotten() override { return {.streams = CoreSystem::forgotten().streams}; }
};

/// A new life continues the stream of the one before.
class MergesLives final : public CoreSystem {
public:
  using CoreSystem::CoreSystem;
  void store(const EventBatch& events, StoreAs form) override {
    EventBatch merged = events;
    if (!events.frames.empty()) {
      const std::vector<FrameView> frames(events.frames.begin(), events.frames.end());
      merged.frames =
          FrameBatch::copy_of(StreamId{events.frames.stream().node, Lifetime{1}}, frames);
    }
    CoreSystem::store(merged, form);
  }
};

} // namespace datastream::model_test
