#include <datastream/hooks/producer_output_observer.hpp>

#include <utility>

namespace datastream {

ProducerOutputObserver::ProducerOutputObserver(DatastreamProducer producer, Route route)
    : producer_(std::move(producer)), route_(std::move(route)) {}

void ProducerOutputObserver::on_output(std::string_view label, bool is_stderr,
                                       std::string_view data) {
  const ChannelId channel = route_(label, is_stderr);
  const bool accepted = producer_.submit_bytes(channel, data);
  const std::lock_guard lock(mutex_);
  SubmissionCounts& counts = counts_[channel];
  ++(accepted ? counts.accepted_frames : counts.refused_frames);
  (accepted ? counts.accepted_bytes : counts.refused_bytes) += data.size();
}

SubmissionCounts ProducerOutputObserver::counts(ChannelId channel) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(channel);
  return found == counts_.end() ? SubmissionCounts{} : found->second;
}

std::map<ChannelId, SubmissionCounts> ProducerOutputObserver::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

} // namespace datastream
