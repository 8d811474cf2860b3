#include <datastream/envelope/process_observer.hpp>

#include <utility>

namespace datastream {
namespace {

class EventSinkObserver final : public ProcessOutputObserver {
public:
  EventSinkObserver(DatastreamEventSink events, ProcessRoute route)
      : events_(std::move(events)), route_(std::move(route)) {}

  void on_output(std::string_view label, bool is_stderr, std::string_view data) override {
    events_.submit_bytes(route_(label, is_stderr), data); // a refusal is the mux's to count
  }

private:
  const DatastreamEventSink events_;
  const ProcessRoute route_;
};

} // namespace

std::shared_ptr<ProcessOutputObserver> process_observer(DatastreamEventSink events,
                                                        ProcessRoute route) {
  return std::make_shared<EventSinkObserver>(std::move(events), std::move(route));
}

} // namespace datastream
