#pragma once
/// From arriving frames to a consumer or fanout.

#include <datastream/envelope/admission.hpp>
#include <datastream/envelope_caf/messages.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/subscription_request.hpp>

#include <caf/actor.hpp>
#include <caf/event_based_actor.hpp>

#include <cstddef>
#include <functional>

namespace datastream {

/// Lets frames in and passes them on. Whoever owns it offers more only when it is no longer busy:
/// so what is on its way is bounded by what its sources hold.
///
/// Thread safety: for its actor only.
class Feed {
public:
  /// `into` answers `publish_atom` with `EventBatch`: a consumer or fanout. `on_idle` is called
  /// when it has taken over all that was offered.
  Feed(caf::event_based_actor* self, caf::actor into, AdmissionOptions options,
       std::function<void()> on_idle);

  /// Tells `into` the names of channels.
  void declare(const DatastreamSnapshot& catalog);

  void offer(const PeerName& peer, const FrameBatch& batch);
  bool busy() const noexcept { return requests_ > 0; }

  FrameAdmission& admission() noexcept { return admission_; }
  /// What of a `SinkLedger` happens here.
  SinkLedger ledger() const;

private:
  void answered(std::size_t frames, std::uint64_t& count);

  caf::event_based_actor* self_;
  caf::actor into_;
  FrameAdmission admission_;
  std::function<void()> on_idle_;
  std::size_t requests_ = 0; // that were not answered yet
  SinkLedger ledger_;
  bool error_logged_ = false;
};

} // namespace datastream
