#pragma once
/// Records of the user's own: structs that travel as JSON on a channel named after them
/// (specification 5.5, 5.6).
///
///     struct Load {
///       static constexpr auto CHANNEL = "worker.load";
///       std::uint32_t queue = 0;
///       double busy = 0;
///     };
///     DATASTREAM_RECORD(Load, queue, busy)
///
///     encode_record(Load{3, 0.5})                  // {"queue":3,"busy":0.5}
///     decode_record<Load>(R"({"queue":3})")        // Load{3, 0}
///
/// A field is a bool, an integer, a float or double, a `std::string`, a `nlohmann::json`, a nested
/// record, or a `std::optional`, `std::vector` or `std::map<std::string, …>` of these. Nested
/// records need no CHANNEL.
///
/// Evolution: add fields freely; never remove or repurpose one. A reader keeps a field's default
/// when the field is absent, and ignores fields that it does not know. It is strict about what is
/// there: a number that does not fit its field, another type, `null` for anything but an optional,
/// or a known field that occurs twice is an error, never a wrong value.

#include <datastream/detail/record_codec.hpp>
#include <datastream/model/json_document.hpp>
#include <datastream/model/json_error.hpp>

#include <concepts>
#include <expected>
#include <string>
#include <string_view>
#include <tuple>

namespace datastream {

/// A struct with `DATASTREAM_RECORD` that names its channel.
template <class R>
concept Record = detail::RecordPart<R> && std::default_initializable<R> && requires {
  { R::CHANNEL } -> std::convertible_to<std::string_view>;
};

using RecordError = JsonError;

template <Record R>
constexpr std::string_view channel_name() {
  return R::CHANNEL;
}

/// Appends the record's JSON to `out`: fields in the order of `DATASTREAM_RECORD`, absent
/// optionals, NaN and infinities as `null`. Allocates nothing once `out` has grown to its usual
/// size.
template <Record R>
void encode_record_to(std::string& out, const R& record) {
  detail::RecordCodec::append(out, record, defaults::json_depth);
}

namespace detail {
/// How `DatastreamProducer::submit_record` finds the encoder.
template <class R>
struct RecordText {
  static void append(std::string& out, const R& record) { encode_record_to(out, record); }
};
} // namespace detail

template <Record R>
std::string encode_record(const R& record) {
  std::string out;
  encode_record_to(out, record);
  return out;
}

/// Reads a record from one JSON object. Never throws on odd input.
template <Record R>
std::expected<R, RecordError> decode_record(std::string_view text) {
  const auto document = JsonDocument::parse(text);
  if (!document)
    return std::unexpected(document.error());
  R record{};
  if (auto result = detail::RecordCodec::read(document->root(), record); !result)
    return std::unexpected(std::move(result.error()));
  return record;
}

} // namespace datastream

/// Lists a record's fields, in the order in which they are written. At namespace scope, in the
/// namespace of the struct, after it; up to 80 fields.
#define DATASTREAM_RECORD(Type, ...)                                                               \
  [[maybe_unused]] constexpr auto datastream_record_fields(const Type*) noexcept {                 \
    return ::std::make_tuple(                                                                      \
        __VA_OPT__(DATASTREAM_DETAIL_RESCAN(DATASTREAM_DETAIL_FIELDS(Type, __VA_ARGS__))));        \
  }

// The list is a macro that names itself again behind each field; every rescan expands it once more.
#define DATASTREAM_DETAIL_FIELDS(Type, field, ...)                                                 \
  ::datastream::detail::RecordField("\"" #field "\":", &Type::field) __VA_OPT__(                   \
      , DATASTREAM_DETAIL_FIELDS_AGAIN DATASTREAM_DETAIL_PARENTHESES(Type, __VA_ARGS__))
#define DATASTREAM_DETAIL_FIELDS_AGAIN() DATASTREAM_DETAIL_FIELDS
#define DATASTREAM_DETAIL_PARENTHESES ()
#define DATASTREAM_DETAIL_RESCAN(...)                                                              \
  DATASTREAM_DETAIL_RESCAN3(DATASTREAM_DETAIL_RESCAN3(DATASTREAM_DETAIL_RESCAN3(__VA_ARGS__)))
#define DATASTREAM_DETAIL_RESCAN3(...)                                                             \
  DATASTREAM_DETAIL_RESCAN2(DATASTREAM_DETAIL_RESCAN2(DATASTREAM_DETAIL_RESCAN2(__VA_ARGS__)))
#define DATASTREAM_DETAIL_RESCAN2(...)                                                             \
  DATASTREAM_DETAIL_RESCAN1(DATASTREAM_DETAIL_RESCAN1(DATASTREAM_DETAIL_RESCAN1(__VA_ARGS__)))
#define DATASTREAM_DETAIL_RESCAN1(...)                                                             \
  DATASTREAM_DETAIL_RESCAN0(DATASTREAM_DETAIL_RESCAN0(DATASTREAM_DETAIL_RESCAN0(__VA_ARGS__)))
#define DATASTREAM_DETAIL_RESCAN0(...) __VA_ARGS__
