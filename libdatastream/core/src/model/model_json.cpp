#include <datastream/model/json.hpp>

#include <datastream/model/json_document.hpp>
#include <datastream/model/json_text.hpp>

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace datastream {
namespace {

// ---- the shapes of the data model: what serialises how, in one place ----------------------------

enum class Form { value, bytes };

template <class T>
constexpr bool is_option = false;
template <class T>
constexpr bool is_option<std::optional<T>> = true;

template <class Owner, class Member>
struct Field {
  static constexpr bool may_be_absent = is_option<Member>;
  std::string_view name;
  Member Owner::*member;
  Form form = Form::value;
};

/// The fields of a struct, in the order in which they are written.
template <class T>
constexpr std::tuple<> fields{};

template <>
constexpr auto fields<StreamId> =
    std::tuple(Field{"node", &StreamId::node}, Field{"life", &StreamId::life});
template <>
constexpr auto fields<StreamDescriptor> =
    std::tuple(Field{"stream", &StreamDescriptor::stream}, Field{"label", &StreamDescriptor::label},
               Field{"origin", &StreamDescriptor::origin});
template <>
constexpr auto fields<JsonRecord> = std::tuple(Field{"schema", &JsonRecord::schema});
template <>
constexpr auto fields<ChannelDescriptor> = std::tuple(
    Field{"stream", &ChannelDescriptor::stream}, Field{"id", &ChannelDescriptor::id},
    Field{"name", &ChannelDescriptor::name}, Field{"label", &ChannelDescriptor::label},
    Field{"content", &ChannelDescriptor::content});
template <>
constexpr auto fields<ChannelRef> =
    std::tuple(Field{"stream", &ChannelRef::stream}, Field{"channel", &ChannelRef::channel});
template <>
constexpr auto fields<FrameDelivery> = std::tuple(
    Field{"channel", &FrameDelivery::channel}, Field{"position", &FrameDelivery::position},
    Field{"payload", &FrameDelivery::payload, Form::bytes});
template <>
constexpr auto fields<Frame> =
    std::tuple(Field{"channel", &Frame::channel}, Field{"position", &Frame::position},
               Field{"payload", &Frame::payload, Form::bytes});
template <>
constexpr auto fields<SubscriptionRequest> =
    std::tuple(Field{"sources", &SubscriptionRequest::sources},
               Field{"channels", &SubscriptionRequest::channels});
template <>
constexpr auto fields<DatastreamSnapshot> =
    std::tuple(Field{"streams", &DatastreamSnapshot::streams},
               Field{"channels", &DatastreamSnapshot::channels});

/// The only member of a type that is written as that member alone.
template <class T>
constexpr std::nullptr_t content{};

template <>
constexpr auto content<NodeId> = &NodeId::value;
template <>
constexpr auto content<Lifetime> = &Lifetime::value;
template <>
constexpr auto content<Position> = &Position::value;
template <>
constexpr auto content<ChannelId> = &ChannelId::value;
template <>
constexpr auto content<StreamDeclared> = &StreamDeclared::descriptor;
template <>
constexpr auto content<ChannelDeclared> = &ChannelDeclared::descriptor;
template <>
constexpr auto content<StreamEnded> = &StreamEnded::stream;
template <>
constexpr auto content<source_filter::Origin> = &source_filter::Origin::origin;
template <>
constexpr auto content<source_filter::Node> = &source_filter::Node::node;
template <>
constexpr auto content<source_filter::Stream> = &source_filter::Stream::stream;
template <>
constexpr auto content<channel_filter::Name> = &channel_filter::Name::name;
template <>
constexpr auto content<channel_filter::Prefix> = &channel_filter::Prefix::prefix;
template <>
constexpr auto content<channel_filter::Content> = &channel_filter::Content::kind;

/// The names of an enumeration's values, or of a variant's alternatives, in their order.
template <class T>
constexpr std::array<std::string_view, 0> names{};

template <>
constexpr std::array<std::string_view, 3> names<StreamOrigin> = {"Orchestrator", "Bootstrap",
                                                                 "RemoteNode"};
template <>
constexpr std::array<std::string_view, 3> names<ChannelContentKind> = {"Bytes", "TextStream",
                                                                       "JsonRecord"};
template <>
constexpr auto names<ChannelContent> = names<ChannelContentKind>;
template <>
constexpr std::array<std::string_view, 4> names<DatastreamEvent> = {
    "StreamDeclared", "ChannelDeclared", "Frame", "StreamEnded"};
template <>
constexpr std::array<std::string_view, 4> names<SourceFilter> = {"All", "Origin", "Node", "Stream"};
template <>
constexpr std::array<std::string_view, 4> names<ChannelFilter> = {"All", "Name", "Prefix",
                                                                  "Content"};

template <class T>
concept Struct = std::tuple_size_v<std::remove_cvref_t<decltype(fields<T>)>> > 0;
template <class T>
concept Newtype = !std::same_as<std::remove_cvref_t<decltype(content<T>)>, std::nullptr_t>;
template <class T>
concept Variant = requires { std::variant_size<T>::value; };

// ---- writing ------------------------------------------------------------------------------------

void write(std::string& out, std::string_view text) {
  append_json_string(out, text);
}

template <std::unsigned_integral T>
void write(std::string& out, T number) {
  append_json_integer(out, std::uint64_t{number});
}

template <class T>
  requires std::is_enum_v<T>
void write(std::string& out, T value) {
  write(out, names<T>[static_cast<std::size_t>(value)]);
}

void write_bytes(std::string& out, std::string_view bytes) {
  out += '[';
  for (const char byte : bytes) {
    append_json_integer(out, std::uint64_t{static_cast<unsigned char>(byte)});
    out += ',';
  }
  close_json(out, ']');
}

template <class T>
void write(std::string& out, const std::optional<T>& option);
template <class T>
void write(std::string& out, const std::vector<T>& items);
template <Newtype T>
void write(std::string& out, const T& value);
template <Variant T>
void write(std::string& out, const T& value);

template <Struct T>
void write(std::string& out, const T& value) {
  out += '{';
  std::apply(
      [&](const auto&... field) {
        const auto write_field = [&](const auto& f) {
          write(out, f.name);
          out += ':';
          if constexpr (std::same_as<std::remove_cvref_t<decltype(value.*f.member)>, std::string>) {
            if (f.form == Form::bytes)
              write_bytes(out, value.*f.member);
            else
              write(out, std::string_view(value.*f.member));
          } else {
            write(out, value.*f.member);
          }
          out += ',';
        };
        (write_field(field), ...);
      },
      fields<T>);
  close_json(out, '}');
}

template <class T>
void write(std::string& out, const std::optional<T>& option) {
  if (option)
    write(out, *option);
  else
    out += "null";
}

template <class T>
void write(std::string& out, const std::vector<T>& items) {
  out += '[';
  for (const T& item : items) {
    write(out, item);
    out += ',';
  }
  close_json(out, ']');
}

template <Newtype T>
void write(std::string& out, const T& value) {
  write(out, value.*content<T>);
}

template <Variant T>
void write(std::string& out, const T& value) {
  const std::string_view name = names<T>[value.index()];
  std::visit(
      [&]<class Alternative>(const Alternative& alternative) {
        if constexpr (std::is_empty_v<Alternative>) {
          write(out, name);
        } else {
          out += '{';
          write(out, name);
          out += ':';
          write(out, alternative);
          out += '}';
        }
      },
      value);
}

// ---- reading ------------------------------------------------------------------------------------

using Result = std::expected<void, JsonError>;

std::unexpected<JsonError> failure(JsonError::Kind kind, std::string reason) {
  return std::unexpected(JsonError{kind, std::move(reason), {}, {}});
}

Result read(JsonValue in, std::string& out) {
  const auto text = in.as_string();
  if (!text)
    return failure(JsonError::Kind::wrong_type, "expected a string");
  out = *text;
  return {};
}

template <std::unsigned_integral T>
Result read(JsonValue in, T& out) {
  const auto number = in.as_integer<T>();
  if (!number)
    return failure(in.is_integer() ? JsonError::Kind::out_of_range : JsonError::Kind::wrong_type,
                   "expected an unsigned integer of " + std::to_string(sizeof(T) * 8) + " bits");
  out = *number;
  return {};
}

Result read_bytes(JsonValue in, std::string& out) {
  if (!in.is_array())
    return failure(JsonError::Kind::wrong_type, "expected an array of bytes");
  for (const JsonValue item : in.items()) {
    std::uint8_t byte = 0;
    if (Result ok = read(item, byte); !ok)
      return ok;
    out += static_cast<char>(byte);
  }
  return {};
}

/// An alternative's number, and what it carries unless it was its bare name.
struct Tagged {
  std::size_t index;
  std::optional<JsonValue> content;
};

template <class T>
std::expected<Tagged, JsonError> read_tag(JsonValue in) {
  std::optional<std::string_view> name = in.as_string();
  std::optional<JsonValue> carried;
  if (in.is_object()) {
    for (const auto [key, value] : in.members()) {
      if (carried)
        return failure(JsonError::Kind::wrong_type, "expected a single alternative");
      name = key;
      carried = value;
    }
  }
  if (!name)
    return failure(JsonError::Kind::wrong_type, "expected the name of an alternative");
  for (std::size_t i = 0; i < names<T>.size(); ++i)
    if (names<T>[i] == *name)
      return Tagged{i, carried};
  return failure(JsonError::Kind::unknown_variant, "unknown alternative " + std::string(*name));
}

Result read_unit(const Tagged& tagged) {
  if (tagged.content && !tagged.content->is_null())
    return failure(JsonError::Kind::wrong_type, "expected an alternative without content");
  return {};
}

template <class T>
  requires std::is_enum_v<T>
Result read(JsonValue in, T& out) {
  const auto tagged = read_tag<T>(in);
  if (!tagged)
    return std::unexpected(tagged.error());
  out = static_cast<T>(tagged->index);
  return read_unit(*tagged);
}

template <class T>
Result read(JsonValue in, std::optional<T>& out);
template <class T>
Result read(JsonValue in, std::vector<T>& out);
template <Newtype T>
Result read(JsonValue in, T& out);
template <Variant T>
Result read(JsonValue in, T& out);

template <Struct T>
Result read(JsonValue in, T& out);

template <Struct T>
class StructReader {
public:
  explicit StructReader(T& out) : out_(out) {}

  Result read(JsonValue in) {
    if (in.is_object())
      return read_members(in);
    if (in.is_array())
      return read_positions(in);
    return failure(JsonError::Kind::wrong_type, "expected an object");
  }

private:
  static constexpr std::size_t count = std::tuple_size_v<std::remove_cvref_t<decltype(fields<T>)>>;

  /// Calls `f(field, number)` for each field until one fails.
  template <class F>
  static Result each_field(F f) {
    Result result;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      static_cast<void>((... && (result = f(std::get<I>(fields<T>), I)).has_value()));
    }(std::make_index_sequence<count>());
    return result;
  }

  template <class F>
  Result read_field(const F& field, JsonValue in) {
    auto& member = out_.*field.member;
    Result result = [&] {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(member)>, std::string>) {
        if (field.form == Form::bytes)
          return read_bytes(in, member);
      }
      return datastream::read(in, member);
    }();
    if (!result)
      return std::unexpected(std::move(result.error()).in(field.name));
    return result;
  }

  Result read_members(JsonValue in) {
    std::array<bool, count> seen{};
    for (const auto member : in.members()) {
      const std::string_view key = member.key;
      const JsonValue value = member.value;
      Result result = each_field([&](const auto& field, std::size_t number) -> Result {
        if (field.name != key)
          return {};
        if (std::exchange(seen[number], true))
          return std::unexpected(
              JsonError{JsonError::Kind::duplicate_field, "occurs twice", {}, std::string(key)});
        return read_field(field, value);
      });
      if (!result)
        return result;
    }
    return each_field([&](const auto& field, std::size_t number) -> Result {
      if (seen[number] || field.may_be_absent)
        return {};
      return std::unexpected(JsonError{
          JsonError::Kind::missing_field, "is missing", {}, std::string(field.name)});
    });
  }

  Result read_positions(JsonValue in) {
    auto item = in.items().begin();
    const auto end = in.items().end();
    Result result = each_field([&](const auto& field, std::size_t) -> Result {
      if (item == end)
        return failure(JsonError::Kind::wrong_length, "too few elements");
      const JsonValue value = *item;
      ++item;
      return read_field(field, value);
    });
    if (result && item != end)
      return failure(JsonError::Kind::wrong_length, "too many elements");
    return result;
  }

  T& out_;
};

template <Struct T>
Result read(JsonValue in, T& out) {
  return StructReader<T>(out).read(in);
}

template <class T>
Result read(JsonValue in, std::optional<T>& out) {
  out.reset();
  return in.is_null() ? Result() : read(in, out.emplace());
}

template <class T>
Result read(JsonValue in, std::vector<T>& out) {
  if (!in.is_array())
    return failure(JsonError::Kind::wrong_type, "expected an array");
  for (const JsonValue item : in.items())
    if (Result result = read(item, out.emplace_back()); !result)
      return std::unexpected(
          std::move(result.error()).in('[' + std::to_string(out.size() - 1) + ']'));
  return {};
}

template <Newtype T>
Result read(JsonValue in, T& out) {
  return read(in, out.*content<T>);
}

template <Variant T, std::size_t I = 0>
Result read_alternative(const Tagged& tagged, T& out) {
  if constexpr (I < std::variant_size_v<T>) {
    if (tagged.index != I)
      return read_alternative<T, I + 1>(tagged, out);
    auto& alternative = out.template emplace<I>();
    if constexpr (std::is_empty_v<std::variant_alternative_t<I, T>>)
      return read_unit(tagged);
    else if (tagged.content)
      return read(*tagged.content, alternative);
  }
  return failure(JsonError::Kind::wrong_type, "expected an alternative with content");
}

template <Variant T>
Result read(JsonValue in, T& out) {
  const auto tagged = read_tag<T>(in);
  if (!tagged)
    return std::unexpected(tagged.error());
  Result result = read_alternative(*tagged, out);
  if (!result)
    return std::unexpected(std::move(result.error()).in(names<T>[tagged->index]));
  return result;
}

} // namespace

template <JsonModel T>
std::string encode_json(const T& value) {
  std::string out;
  write(out, value);
  return out;
}

template <JsonModel T>
std::expected<T, JsonError> decode_json(std::string_view text) {
  const auto document = JsonDocument::parse(text);
  if (!document)
    return std::unexpected(document.error());
  T value{};
  if (Result result = read(document->root(), value); !result)
    return std::unexpected(std::move(result.error()));
  return value;
}

#define DATASTREAM_INSTANTIATE(T)                                                                  \
  template std::string encode_json(const T&);                                                      \
  template std::expected<T, JsonError> decode_json<T>(std::string_view);
DATASTREAM_INSTANTIATE(StreamId)
DATASTREAM_INSTANTIATE(StreamDescriptor)
DATASTREAM_INSTANTIATE(ChannelContent)
DATASTREAM_INSTANTIATE(ChannelDescriptor)
DATASTREAM_INSTANTIATE(ChannelRef)
DATASTREAM_INSTANTIATE(FrameDelivery)
DATASTREAM_INSTANTIATE(Frame)
DATASTREAM_INSTANTIATE(DatastreamEvent)
DATASTREAM_INSTANTIATE(SourceFilter)
DATASTREAM_INSTANTIATE(ChannelFilter)
DATASTREAM_INSTANTIATE(SubscriptionRequest)
DATASTREAM_INSTANTIATE(DatastreamSnapshot)
DATASTREAM_INSTANTIATE(std::vector<ChannelDescriptor>)
#undef DATASTREAM_INSTANTIATE

} // namespace datastream
