#include <datastream/model/subscription_request.hpp>

namespace datastream {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

} // namespace

bool matches(const SourceFilter& filter, const StreamDescriptor& stream) {
  return std::visit(Overloaded{
                        [](const source_filter::All&) { return true; },
                        [&](const source_filter::Origin& f) { return f.origin == stream.origin; },
                        [&](const source_filter::Node& f) { return f.node == stream.stream.node; },
                        [&](const source_filter::Stream& f) { return f.stream == stream.stream; },
                    },
                    filter);
}

bool matches(const ChannelFilter& filter, const ChannelDescriptor& channel) {
  return std::visit(
      Overloaded{
          [](const channel_filter::All&) { return true; },
          [&](const channel_filter::Name& f) { return f.name == channel.name; },
          [&](const channel_filter::Prefix& f) { return channel.name.starts_with(f.prefix); },
          [&](const channel_filter::Content& f) { return f.kind == kind_of(channel.content); },
      },
      filter);
}

bool matches(const SubscriptionRequest& request, const StreamDescriptor& stream,
             const ChannelDescriptor& channel) {
  return matches(request.sources, stream) && matches(request.channels, channel);
}

} // namespace datastream
