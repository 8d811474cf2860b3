#include <datastream/hooks/producer_output_observer.hpp>

#include <utility>

namespace datastream {

SubmissionCounts& SubmissionCounts::operator+=(const SubmissionCounts& more) noexcept {
  accepted_frames += more.accepted_frames;
  accepted_bytes += more.accepted_bytes;
  refused_frames += more.refused_frames;
  refused_bytes += more.refused_bytes;
  return *this;
}

ProducerOutputObserver::ProducerOutputObserver(DatastreamProducer producer, Route route,
                                               std::initializer_list<ChannelId> channels)
    : producer_(std::move(producer)), route_(std::move(route)) {
  for (const ChannelId channel : channels)
    counts_.try_emplace(channel);
}

void ProducerOutputObserver::on_output(std::string_view label, bool is_stderr,
                                       std::string_view data) {
  const ChannelId channel = route_(label, is_stderr);
  std::unique_lock lock(mutex_);
  SubmissionCounts& counts = counts_[channel]; // first: what is submitted is counted for certain
  lock.unlock();
  const bool accepted = producer_.submit_bytes(channel, data);
  lock.lock();
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
