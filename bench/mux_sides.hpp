#pragma once
/// The muxes that are compared, behind one interface: `producer()` gives each thread what it
/// submits through, `drain(reader)` calls `reader(channel, position, payload)` for every frame.

#include "harness/require.hpp"
#include "reference/bytes.hpp"
#include "reference/moodycamel/mux.hpp"
#include "reference/mutex/mux.hpp"
#include "reference/simple/mux.hpp"

#include <datastream/defaults.hpp>
#include <datastream/pipe/mux.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::size_t mux_frames = datastream::defaults::mux_frames;

/// Frames that one drain finds where a measure is not about drains: a million frames a second,
/// drained every millisecond.
inline constexpr std::size_t frames_a_tick = 1000;

class OurMux {
public:
  struct Producer {
    OurMux& side;
    bool submit(std::uint32_t channel, std::string_view payload) {
      return side.mux_.submit(datastream::ChannelId{channel}, payload);
    }
  };
  Producer producer() { return {*this}; }

  template <class Reader>
  std::size_t drain(Reader& reader) {
    batches_.clear();
    mux_.drain(batches_);
    std::size_t frames = 0;
    for (const datastream::FrameBatch& batch : batches_) {
      for (const datastream::FrameView& frame : batch)
        reader(frame.channel.value, frame.position.value, frame.payload);
      frames += batch.size();
    }
    return frames;
  }

  void require_ledger(std::uint64_t accepted, std::uint64_t refused) const {
    require(mux_.assigned() == accepted, "every accepted frame has a position");
    require(mux_.refused().total() == refused, "every refusal is counted");
    require(mux_.queued() == 0, "nothing is left in the mux");
  }

private:
  datastream::Mux mux_{{"bench", {1}}, {.frames = mux_frames}};
  std::vector<datastream::FrameBatch> batches_;
};

class SimpleMux {
public:
  struct Producer {
    SimpleMux& side;
    bool submit(std::uint32_t channel, std::string_view payload) {
      return side.mux_.submit(channel, reference::to_bytes(payload));
    }
  };
  Producer producer() { return {*this}; }

  template <class Reader>
  std::size_t drain(Reader& reader) {
    frames_.clear();
    mux_.drain(frames_);
    for (const reference::simple::Frame& frame : frames_)
      reader(frame.channel, frame.position, reference::view(frame.payload));
    return frames_.size();
  }

  void require_ledger(std::uint64_t accepted, std::uint64_t refused) const {
    require(mux_.assigned() == accepted, "every accepted frame has a position");
    require(mux_.dropped() == refused, "every refusal is counted");
  }

private:
  reference::simple::Mux mux_{mux_frames};
  std::vector<reference::simple::Frame> frames_;
};

class MutexMux {
public:
  struct Producer {
    MutexMux& side;
    bool submit(std::uint32_t channel, std::string_view payload) {
      return side.mux_.submit(channel, reference::to_bytes(payload));
    }
  };
  Producer producer() { return {*this}; }

  template <class Reader>
  std::size_t drain(Reader& reader) {
    const auto frames = mux_.drain();
    for (const reference::mutex::Submission& frame : frames)
      reader(frame.channel, position_++, reference::view(frame.payload));
    return frames.size();
  }

  void require_ledger(std::uint64_t accepted, std::uint64_t refused) const {
    require(position_ == accepted, "every accepted frame has a position");
    require(mux_.dropped() == refused, "every refusal is counted");
  }

private:
  reference::mutex::Mux mux_{mux_frames};
  std::uint64_t position_ = 0;
};

class MoodycamelMux {
  using Mux = reference::moodycamel::Mux<mux_frames>;

public:
  Mux::Producer producer() { return Mux::Producer(mux_); }

  template <class Reader>
  std::size_t drain(Reader& reader) {
    frames_.clear();
    mux_.drain(frames_);
    for (const reference::moodycamel::Submission& frame : frames_)
      reader(frame.channel, position_++, reference::view(frame.payload));
    return frames_.size();
  }

  void require_ledger(std::uint64_t accepted, std::uint64_t refused) const {
    require(position_ == accepted, "every accepted frame has a position");
    require(mux_.dropped() == refused, "every refusal is counted");
  }

private:
  Mux mux_;
  std::vector<reference::moodycamel::Submission> frames_;
  std::uint64_t position_ = 0;
};

} // namespace bench
