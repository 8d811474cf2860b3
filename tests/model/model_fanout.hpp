#pragma once
/// One fanout and its readers, as the model knows them.

#include "model_payloads.hpp"
#include "system.hpp"

#include <datastream/pipe/event_batch.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace datastream::model_test {

struct ModelFrame {
  StreamId stream;
  ChannelId channel;
  Position position;
  PayloadPtr payload;
};
using FramePtr = std::shared_ptr<const ModelFrame>;
using Frames = std::vector<FramePtr>;

/// What a catalog was told, in order.
class ModelCatalog {
public:
  using Entry = std::variant<StreamDescriptor, ChannelDescriptor>;

  /// Both return whether it was new.
  bool declare(const StreamDescriptor& stream);
  bool declare(const ChannelDescriptor& channel);
  void declare(const Entry& entry);
  void declare(const DatastreamSnapshot& snapshot);
  void declare(const Declaration& declaration);
  /// As if it had never been declared.
  void forget(const StreamId& stream);

  std::size_t version() const { return log_.size(); }
  const Entry& at(std::size_t index) const { return log_.at(index); }
  /// Where a channel is in the log.
  std::optional<std::size_t> find(const StreamId& stream, ChannelId channel) const;
  /// The channel itself, or null.
  const ChannelDescriptor* channel(const StreamId& stream, ChannelId channel) const;
  /// Is this entry, a channel, in a snapshot for this request?
  bool shows(const SubscriptionRequest& request, std::size_t index) const;
  DatastreamSnapshot snapshot(const SubscriptionRequest& request = {}) const;

private:
  std::vector<Entry> log_;
  std::map<StreamId, StreamDescriptor> streams_;
  std::map<ChannelRef, std::size_t> channels_;
};

/// One reader. It is told each declaration once, in order and before the first frame of its
/// channel; each start of a stream once and before anything else of it; each end once and after
/// everything else of it; and every frame that it had room for, in the order of publication.
class ModelReader {
public:
  ReaderKey key = 0;
  SubscriptionId id;
  std::string name;
  bool pulled = false;
  SubscriptionRequest request;
  SubscriberCapacity capacity;
  SubscriberCounts counts;
  /// Pushed: what is not acknowledged. Pulled with a byte bound: what was taken at once.
  std::deque<EventBatch> held;
  std::uint64_t sequence = 0; ///< of the delivery that was seen last; pushed

  /// Bytes that readers pin are known only once they have something: what such a reader had room
  /// for is judged by what it was sent, before the next action. A pulled one takes it at once.
  bool byte_bound() const { return capacity.bytes < defaults::subscriber_bytes; }

  void begin(const ModelCatalog& catalog, std::map<StreamId, std::uint64_t> ended);
  void offer(const Frames& frames);
  void stream_started(const StreamStart& start) { starts_due_.push_back(start); }
  void stream_ended(const StreamEnd& end) { ends_due_.emplace(end.stream, end.assigned); }

  /// Checks a delivery, and answers the frames in it.
  Frames take(const ModelCatalog& catalog, const EventBatch& delivery);
  /// Everything that a publication has sent to this reader was taken.
  void settle();
  void acknowledged(std::size_t frames);
  /// Checks that nothing is kept from it.
  void must_know_everything(const ModelCatalog& catalog) const;

private:
  struct Expected {
    FramePtr frame;
    std::uint64_t dropped = 0; ///< copies that were lost before it
  };

  FramePtr next_frame(const FrameView& frame, const EventBatch& delivery);
  void drop(const FramePtr& frame);
  void check_names(const ModelCatalog& catalog, const EventBatch& delivery) const;

  std::size_t snapshot_version_ = 0;
  std::size_t told_version_ = 0;
  std::uint64_t told_dropped_ = 0;
  std::deque<Expected> expected_;
  std::deque<FramePtr> offered_; // byte bound: not yet known whether there was room
  FramePtr first_dropped_;       // of the run of drops that goes on
  std::vector<FramePtr> first_of_runs_;
  std::deque<StreamStart> starts_due_;
  std::map<StreamId, std::uint64_t> ends_due_;
  std::set<StreamId> ends_told_;
};

/// A fanout with its catalog. It publishes what it is given, to whoever is there.
class ModelFanout {
public:
  ModelCatalog catalog;
  std::vector<ModelReader> readers; ///< in the order of their ids
  SubscriberCounts departed;
  std::uint64_t strays = 0;
  std::uint64_t after_end = 0;
  bool closed = false;

  /// What a new reader must be told first.
  void must_begin_so(const SubscriptionStart& start, const SubscriptionRequest& request) const;
  void add(ModelReader reader);
  /// Returns whether the frames were taken: not after the end of their stream.
  bool publish(const Frames& frames);
  void expect_next(const StreamStart& start);
  void end_stream(const StreamEnd& end);
  /// It leaves; what it had not acknowledged is abandoned.
  void remove(std::size_t index);

  FanoutLedger ledger() const;
  /// Summed over the readers, present and departed.
  SubscriberCounts total() const;

private:
  struct Stream {
    std::uint64_t next = 0;
    std::optional<std::uint64_t> ended;
  };
  Stream& stream(const StreamId& id, Position first);

  std::map<StreamId, Stream> streams_;
};

} // namespace datastream::model_test
