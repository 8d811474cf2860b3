#include <datastream/views/actor_table.hpp>

#include <datastream/record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace datastream {
namespace {

/// An actor as any peer may write it.
struct AnyActor {
  std::string address;
  std::string name;
  std::uint64_t mailbox_depth = 0;
  std::optional<std::string> last_msg_type;
  std::uint64_t messages_processed = 0;
  bool poisoned = false;
  std::optional<std::string> reason;
  nlohmann::json message_type_counts;
  bool exact = true;
  std::optional<std::uint64_t> resumes;
  std::optional<std::uint64_t> busy_us;
};
DATASTREAM_RECORD(AnyActor, address, name, mailbox_depth, last_msg_type, messages_processed,
                  poisoned, reason, message_type_counts, exact, resumes, busy_us)

std::optional<MessageTypeCount> message_type_count(const nlohmann::json& value) {
  const nlohmann::json* type = nullptr;
  const nlohmann::json* count = nullptr;
  if (value.is_array() && value.size() == 2) {
    type = &value[0];
    count = &value[1];
  } else if (value.is_object() && value.contains("ty") && value.contains("count")) {
    type = &value["ty"];
    count = &value["count"];
  }
  if (!type || !type->is_string() || !count->is_number_unsigned())
    return std::nullopt;
  return MessageTypeCount{type->get<std::string>(), count->get<std::uint64_t>()};
}

std::optional<ActorSnapshot> snapshot_of(JsonValue value) {
  AnyActor actor;
  if (!detail::RecordCodec::read(value, actor) || actor.address.empty())
    return std::nullopt;
  ActorSnapshot snapshot{std::move(actor.address),
                         std::move(actor.name),
                         actor.mailbox_depth,
                         std::move(actor.last_msg_type),
                         actor.messages_processed,
                         actor.poisoned,
                         std::move(actor.reason),
                         {},
                         actor.exact,
                         actor.resumes,
                         actor.busy_us};
  if (actor.message_type_counts.is_array())
    for (const nlohmann::json& value_of_count : actor.message_type_counts)
      if (auto count = message_type_count(value_of_count))
        snapshot.message_type_counts.push_back(std::move(*count));
  return snapshot;
}

/// All of a record but its actors, each of which `visit` is called with: one after the other, so
/// that a payload of many tiny ones does not become a vector many times its size.
template <class Visit>
std::expected<ActorsRecord, RecordError> read_actors(std::string_view payload, Visit visit) {
  const auto wrong = [](std::string_view field, std::string_view reason) {
    return std::unexpected(
        RecordError{JsonError::Kind::wrong_type, std::string(reason), {}, std::string(field)});
  };
  const auto document = JsonDocument::parse(payload);
  if (!document)
    return std::unexpected(document.error());
  ActorsRecord record;
  std::optional<JsonValue> actors;
  for (const JsonValue::Members::Member member : document->root().members()) {
    if (member.key == "actors")
      actors = member.value;
    const bool is_worker = member.key == "worker_id";
    if (!is_worker && member.key != "omitted_actors")
      continue;
    const auto number = member.value.as_integer<std::uint64_t>();
    if (!number)
      return wrong(member.key, "expected an unsigned integer that fits");
    (is_worker ? record.worker_id : record.omitted_actors) = *number;
  }
  if (!actors || !actors->is_array())
    return wrong("actors", "expected an array");
  for (const JsonValue value : actors->items())
    if (auto actor = snapshot_of(value))
      visit(std::move(*actor), record.worker_id);
  return record;
}

/// Memory of an entry of the table.
std::size_t bytes_of(const std::string& address, const ActorState& state) {
  std::size_t bytes = sizeof(ActorTable::Actors::value_type) + 4 * sizeof(void*) + address.size() +
                      state.last.address.size() + state.last.name.size() +
                      state.last.message_type_counts.size() * sizeof(MessageTypeCount);
  for (const auto* text : {&state.last.last_msg_type, &state.last.reason})
    bytes += *text ? (*text)->size() : 0;
  for (const MessageTypeCount& type : state.last.message_type_counts)
    bytes += type.ty.size();
  return bytes;
}

} // namespace

std::expected<ActorsRecord, RecordError> decode_actors(std::string_view payload) {
  std::vector<ActorSnapshot> actors;
  auto record = read_actors(
      payload, [&](ActorSnapshot&& actor, std::uint64_t) { actors.push_back(std::move(actor)); });
  if (record)
    record->actors = std::move(actors);
  return record;
}

bool ActorTable::accept(const FrameView& frame) {
  const auto record =
      read_actors(frame.payload, [&](ActorSnapshot&& actor, std::uint64_t worker_id) {
        merge(std::move(actor), worker_id, frame.position);
      });
  if (!record) {
    ++undecodable_;
    return false;
  }
  if (!last_record_ || frame.position >= *last_record_) {
    last_record_ = frame.position;
    omitted_ = record->omitted_actors;
  }
  return true;
}

const ActorState* ActorTable::find(std::string_view address) const {
  const auto found = actors_.find(address);
  return found == actors_.end() ? nullptr : &found->second;
}

void ActorTable::merge(ActorSnapshot&& actor, std::uint64_t worker_id, Position position) {
  const auto [found, is_new] = actors_.try_emplace(actor.address);
  ActorState& state = found->second;
  const std::size_t before = bytes_of(found->first, state);
  bytes_ += is_new ? before : 0;

  const bool tells_end = actor.poisoned && (!state.poisoned || position >= *state.poisoned);
  std::optional<std::string> reason = tells_end ? actor.reason : state.last.reason;
  if (tells_end)
    state.poisoned = position;
  if (is_new || position >= state.position) {
    state.last = std::move(actor);
    state.worker_id = worker_id;
    state.position = position;
  }
  if (state.poisoned) {
    state.last.poisoned = true;
    state.last.reason = std::move(reason);
  }
  bytes_ += bytes_of(found->first, state) - before;
  while (!actors_.empty() &&
         (actors_.size() > defaults::actor_table || bytes_ > defaults::actor_table_bytes))
    forget_oldest();
}

/// A quarter at once, so that each costs no walk of its own.
void ActorTable::forget_oldest() {
  std::vector<Actors::iterator> by_age;
  by_age.reserve(actors_.size());
  for (auto actor = actors_.begin(); actor != actors_.end(); ++actor)
    by_age.push_back(actor);
  const auto kept =
      by_age.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(by_age.size() / 4, 1));
  std::ranges::nth_element(by_age, kept, {},
                           [](Actors::iterator actor) { return actor->second.position; });
  for (auto actor = by_age.begin(); actor != kept; ++actor) {
    bytes_ -= bytes_of((*actor)->first, (*actor)->second);
    actors_.erase(*actor);
  }
  forgotten_ += static_cast<std::uint64_t>(kept - by_age.begin());
}

} // namespace datastream
