#include "vitals.hpp"

#include <datastream/records/host_cpu.hpp>
#include <datastream/records/host_memory.hpp>
#include <datastream/views/actor_table.hpp>
#include <datastream/views/latest.hpp>
#include <datastream/views/lines.hpp>

#include <algorithm>
#include <iomanip>
#include <optional>
#include <sstream>

namespace ds = datastream;

namespace {

/// The channel's id, if the node has it.
std::optional<ds::ChannelId> find(const ds::StoredStream& stream, const ds::Catalog& catalog,
                                  const char* name) {
  const auto channel = catalog.find_channel(stream.id(), name);
  return channel ? std::optional(channel->id) : std::nullopt;
}

/// The last record on its channel.
template <class R>
std::optional<R> last(const ds::StoredStream& stream, const ds::Catalog& catalog) {
  if (const auto channel = find(stream, catalog, R::CHANNEL))
    if (const auto frame = ds::latest(stream, *channel))
      if (auto record = ds::decode_record<R>(frame->payload))
        return *std::move(record);
  return std::nullopt;
}

void add_actors(std::vector<std::string>& out, const ds::StoredStream& stream,
                ds::ChannelId channel) {
  const ds::ActorTable table = ds::actor_table(stream, channel);
  std::vector<const ds::ActorSnapshot*> busiest;
  for (const auto& [address, state] : table.actors())
    busiest.push_back(&state.last);
  std::ranges::sort(busiest, std::greater<>(), &ds::ActorSnapshot::messages_processed);
  busiest.resize(std::min<std::size_t>(busiest.size(), 3));
  for (const ds::ActorSnapshot* actor : busiest) {
    std::ostringstream line;
    line << "actor " << std::left << std::setw(12) << actor->name << " handled "
         << actor->messages_processed << ", last " << actor->last_msg_type.value_or("nothing")
         << ", waiting " << actor->mailbox_depth;
    if (actor->poisoned)
      line << ", died of " << actor->reason.value_or("something");
    out.push_back(line.str());
  }
}

void add_child(std::vector<std::string>& out, const ds::StoredStream& stream,
               const ds::Catalog& catalog) {
  if (const auto channel = find(stream, catalog, "proc.find.stdout")) {
    std::vector<std::string> last_lines;
    for (const ds::LineEntry& entry : ds::lines(stream, *channel))
      if (const auto* line = std::get_if<ds::Line>(&entry)) {
        last_lines.push_back("child | " + line->text);
        if (last_lines.size() > 2)
          last_lines.erase(last_lines.begin());
      }
    out.insert(out.end(), last_lines.begin(), last_lines.end());
  }
  if (const auto channel = find(stream, catalog, "proc.find.lifecycle"))
    if (const auto frame = ds::latest(stream, *channel))
      out.push_back("child   " + std::string(frame->payload));
}

void add_host(std::vector<std::string>& out, const ds::StoredStream& stream,
              const ds::Catalog& catalog) {
  std::ostringstream line;
  line << std::fixed << std::setprecision(1);
  if (const auto cpu = last<ds::HostCpuRecord>(stream, catalog); cpu && cpu->host)
    line << "host  " << cpu->host->logical_cpus << " processors, "
         << cpu->host->total_percent.value_or(0) << " % busy, load "
         << cpu->host->load1.value_or(0);
  if (const auto memory = last<ds::HostMemoryRecord>(stream, catalog);
      memory && memory->used_bytes && memory->total_bytes)
    line << ", " << static_cast<double>(*memory->used_bytes) / (1U << 30U) << " of "
         << static_cast<double>(*memory->total_bytes) / (1U << 30U) << " GiB used";
  if (!line.view().empty())
    out.push_back(line.str());
}

} // namespace

std::vector<std::string> vitals_of(const ds::StoredStream& stream, const ds::Catalog& catalog) {
  std::vector<std::string> lines;
  if (const auto actors = find(stream, catalog, ds::ActorsRecord::CHANNEL))
    add_actors(lines, stream, *actors);
  add_child(lines, stream, catalog);
  add_host(lines, stream, catalog);
  return lines;
}
