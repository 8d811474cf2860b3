#pragma once
/// A subscriber that stores what it receives and shows it.

#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/ingest/consumer.hpp>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/type_id.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct ReaderOptions {
  std::string title;
  std::chrono::milliseconds pause{0}; ///< spent on every delivery
  datastream::SubscriberCapacity capacity = datastream::Subscribe{}.capacity;
};

/// What a reader knows when the stream has ended.
struct ReaderReport {
  struct Channel {
    std::string name;
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
  };

  std::string title;
  datastream::SubscriptionId subscription;
  datastream::IngestLedger ledger;
  std::vector<Channel> channels;
  std::map<std::string, std::uint64_t> words; ///< summed over the records that arrived
};

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ReaderReport) // stays in this process

CAF_BEGIN_TYPE_ID_BLOCK(word_index_collector, caf::first_custom_type_id + 100)
CAF_ADD_TYPE_ID(word_index_collector, (ReaderReport))
CAF_ADD_ATOM(word_index_collector, word_index, subscribed_atom, "subscribed")
CAF_ADD_ATOM(word_index_collector, word_index, lost_atom, "lost")
CAF_ADD_ATOM(word_index_collector, word_index, show_atom, "show")
CAF_ADD_ATOM(word_index_collector, word_index, finish_atom, "finish")
CAF_END_TYPE_ID_BLOCK(word_index_collector)

/// Tells its owner `subscribed_atom`, then a `ReaderReport` when the stream has ended, or
/// `lost_atom` and why when the node is gone before.
class Reader : public caf::event_based_actor {
public:
  Reader(caf::actor_config& config, datastream::EndpointRef endpoint, caf::actor owner,
         ReaderOptions options);

  caf::behavior make_behavior() override;

private:
  void show();
  ReaderReport report() const;

  datastream::EndpointRef endpoint_;
  caf::actor owner_;
  ReaderOptions options_;
  datastream::Subscriber subscriber_;
  datastream::Consumer consumer_;
  datastream::StreamId stream_;
  datastream::SubscriptionId subscription_;
  datastream::Position shown_until_;
  bool ended_ = false;
};
