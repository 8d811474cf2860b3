#include "frame_filter.hpp"

#include "format/time.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <variant>

namespace datastream {

using namespace format;

namespace {

/// The first whole microsecond that is not before it.
std::int64_t first_microsecond_of(std::chrono::system_clock::time_point time) {
  return std::chrono::ceil<std::chrono::microseconds>(time.time_since_epoch()).count();
}

} // namespace

FrameFilter::FrameFilter(ReadFilter filter)
    : filter_(std::move(filter)),
      arrived_from_(filter_.arrived_from ? first_microsecond_of(*filter_.arrived_from)
                                         : std::numeric_limits<std::int64_t>::min()),
      arrived_last_(filter_.arrived_until ? first_microsecond_of(*filter_.arrived_until) - 1
                                          : std::numeric_limits<std::int64_t>::max()) {}

void FrameFilter::learn(const Descriptors& descriptors) {
  if (!has_names())
    return;
  for (const Declaration& declaration : descriptors.declarations)
    if (const auto* channel = std::get_if<ChannelDescriptorPtr>(&declaration))
      channels_[(*channel)->stream].emplace((*channel)->id.value, wants_name((*channel)->name));
}

void FrameFilter::pick(Descriptors& descriptors) const {
  const auto of_another = [&](const auto& reach) {
    return filter_.stream && reach.stream != *filter_.stream;
  };
  std::erase_if(descriptors.starts, of_another);
  std::erase_if(descriptors.ends, of_another);
  std::erase_if(descriptors.declarations, [&](const Declaration& declaration) {
    if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration))
      return filter_.stream && (*stream)->stream != *filter_.stream;
    const ChannelDescriptor& channel = *std::get<ChannelDescriptorPtr>(declaration);
    return (filter_.stream && channel.stream != *filter_.stream) ||
           (has_names() && !wants_name(channel.name));
  });
}

bool FrameFilter::wants(const BlockStream& stream) const {
  return (!filter_.stream || *stream.stream == *filter_.stream) &&
         stream.lowest <= filter_.highest && stream.highest >= filter_.lowest;
}

bool FrameFilter::wants_channel(const StreamId& stream, std::uint32_t channel) const {
  if (!has_names())
    return true;
  const auto known = channels_.find(stream);
  if (known == channels_.end())
    return false;
  const auto wanted = known->second.find(channel);
  return wanted != known->second.end() && wanted->second;
}

/// Whether a batch of a stream for which the predicate holds arrived in time.
template <class Predicate>
bool FrameFilter::any_batch(const BlockDirectory& directory, Predicate predicate) const {
  std::vector<bool> of_stream(directory.streams.size());
  for (std::size_t i = 0; i < of_stream.size(); ++i)
    of_stream[i] = wants(directory.streams[i]) && predicate(directory.streams[i]);
  return std::ranges::any_of(directory.batches, [&](const BlockBatch& batch) {
    return of_stream[batch.stream] && arrived_in_time(batch.arrival);
  });
}

bool FrameFilter::wants(const BlockDirectory& directory) const {
  return any_batch(directory, [&](const BlockStream& stream) {
    return std::ranges::any_of(stream.channels, [&](std::uint32_t channel) {
      return wants_channel(*stream.stream, channel);
    });
  });
}

bool FrameFilter::lacks_names(const BlockDirectory& directory, std::uint64_t segment) const {
  return has_names() && names_lost_up_to_ && segment <= *names_lost_up_to_ &&
         any_batch(directory, [&](const BlockStream& stream) {
           const auto known = channels_.find(*stream.stream);
           return std::ranges::any_of(stream.channels, [&](std::uint32_t channel) {
             return known == channels_.end() || !known->second.contains(channel);
           });
         });
}

std::optional<ArchivedBatch> FrameFilter::cut(const FrameBatch& batch, const BlockBatch& info,
                                              std::uint64_t first, std::uint64_t from) const {
  if (!arrived_in_time(info.arrival) || (filter_.stream && batch.stream() != *filter_.stream))
    return std::nullopt;
  const auto headers = batch.headers();
  std::vector<std::uint32_t> wanted;
  wanted.reserve(headers.size());
  for (std::uint32_t i = 0; i < headers.size(); ++i)
    if (first + i >= from && headers[i].position >= filter_.lowest &&
        headers[i].position <= filter_.highest &&
        wants_channel(batch.stream(), headers[i].channel.value))
      wanted.push_back(i);
  if (wanted.empty())
    return std::nullopt;
  ArchivedBatch result;
  result.arrival = time_of(info.arrival);
  result.first = {first + wanted.front()};
  if (wanted.back() - wanted.front() + 1 == wanted.size()) {
    result.frames = batch.slice(wanted.front(), wanted.size());
    return result;
  }
  FrameBatchWriter writer(wanted.size());
  for (const std::uint32_t i : wanted)
    writer.append(headers[i]);
  result.frames = std::move(writer).finish(batch.shared_stream(), batch.block());
  for (std::uint32_t& i : wanted)
    i = static_cast<std::uint32_t>(first + i - result.first.value);
  result.offsets = std::move(wanted);
  return result;
}

} // namespace datastream
