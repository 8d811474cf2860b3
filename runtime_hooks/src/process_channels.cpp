#include <datastream/hooks/process_channels.hpp>

#include <datastream/model/channel_content.hpp>

#include <initializer_list>
#include <new>
#include <utility>

namespace datastream {

ProcessCounts& ProcessCounts::operator+=(const ProcessCounts& more) noexcept {
  standard_output += more.standard_output;
  standard_error += more.standard_error;
  lifecycle += more.lifecycle;
  return *this;
}

std::expected<std::shared_ptr<ProcessChannels>, ProcessError>
ProcessChannels::open(const DatastreamProducer& producer, std::string_view label,
                      std::shared_ptr<ProcessOutputObserver> output) {
  auto name = process_label(label, {});
  if (!name)
    return std::unexpected(std::move(name.error()));
  auto reservation = ProcessLabelReservation::reserve(producer.stream_id(), *name);
  if (!reservation)
    return std::unexpected(std::move(reservation.error()));

  const auto refused = [](const CatalogError& error) {
    return std::unexpected(ProcessError{ProcessError::Kind::channel_refused, error.message});
  };
  const auto lifecycle = producer.try_register_channel(
      "proc." + *name + ".lifecycle", JsonRecord{std::string(process_lifecycle_schema)});
  if (!lifecycle)
    return refused(lifecycle.error());
  Output destination{std::move(output), nullptr, {}, {}};
  if (!destination.observer) {
    auto ours = open_output(producer, *name);
    if (!ours)
      return refused(ours.error());
    destination = std::move(*ours);
  }
  return std::shared_ptr<ProcessChannels>(new ProcessChannels(
      std::move(*name), std::move(*reservation), producer, *lifecycle, std::move(destination)));
}

std::expected<ProcessChannels::Output, CatalogError>
ProcessChannels::open_output(const DatastreamProducer& producer, const std::string& label) {
  const auto out = producer.try_register_channel("proc." + label + ".stdout", TextStream{});
  if (!out)
    return std::unexpected(out.error());
  const auto err = producer.try_register_channel("proc." + label + ".stderr", TextStream{});
  if (!err)
    return std::unexpected(err.error());
  auto observer = std::make_shared<ProducerOutputObserver>(
      producer,
      [out = *out, err = *err](std::string_view, bool is_stderr) { return is_stderr ? err : out; },
      std::initializer_list<ChannelId>{*out, *err});
  return Output{observer, observer, *out, *err};
}

ProcessChannels::ProcessChannels(std::string label, ProcessLabelReservation reservation,
                                 const DatastreamProducer& producer, ChannelId lifecycle,
                                 Output output)
    : label_(std::move(label)), lifecycle_channel_(lifecycle),
      lifecycle_(producer, [lifecycle](std::string_view, bool) { return lifecycle; }, {lifecycle}),
      output_(std::move(output)), reservation_(std::move(reservation)) {}

void ProcessChannels::on_output(std::string_view, bool is_stderr, std::string_view data) {
  output_.observer->on_output(label_, is_stderr, data);
}

void ProcessChannels::publish(const ProcessEvent& event) noexcept {
  try {
    lifecycle_.on_output(label_, false, to_json(event));
  } catch (const std::bad_alloc&) { // of the text: what is submitted is counted there
    unwritten_.fetch_add(1, std::memory_order_relaxed);
  }
}

void ProcessChannels::close() {
  const std::lock_guard lock(mutex_);
  reservation_.reset();
}

ProcessCounts ProcessChannels::counts() const {
  ProcessCounts counts{{}, {}, lifecycle_.counts(lifecycle_channel_)};
  counts.lifecycle.refused_frames += unwritten_.load(std::memory_order_relaxed);
  if (output_.ours) {
    counts.standard_output = output_.ours->counts(output_.standard_output);
    counts.standard_error = output_.ours->counts(output_.standard_error);
  }
  return counts;
}

} // namespace datastream
