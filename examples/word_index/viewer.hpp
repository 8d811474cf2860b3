#pragma once
/// A subscriber that stores what it receives and shows it.

#include "messages.hpp"

#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/actors/remote.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/ingest/consumer.hpp>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>

#include <chrono>
#include <string>
#include <variant>

struct ViewerOptions {
  std::string title;
  std::chrono::milliseconds pause{0}; ///< spent on every delivery
  datastream::SubscriberCapacity capacity = datastream::Subscribe{}.capacity;
};

/// Tells its owner `subscribed_atom`, then a `Report` when the stream has ended, or `lost_atom` and
/// why when its source is gone before. Answers `overlap_atom`.
class Viewer : public caf::event_based_actor {
public:
  /// Of this process, or to be looked for in another one.
  using Source = std::variant<datastream::EndpointRef, datastream::RemoteEndpoint>;

  /// Kept of the stream, so that `--watch` may go on for days.
  static constexpr datastream::Retention retention{.frames = 1'000'000};

  Viewer(caf::actor_config& config, Source source, caf::actor owner, ViewerOptions options);

  caf::behavior make_behavior() override;

private:
  const datastream::StoredStream* stored() const;
  void show();
  word_index::Report report() const;

  Source source_;
  caf::actor owner_;
  ViewerOptions options_;
  datastream::Subscriber subscriber_;
  datastream::Consumer consumer_;
  datastream::SubscriptionId subscription_;
  datastream::Position shown_until_;
  std::chrono::steady_clock::time_point show_next_{};
};
