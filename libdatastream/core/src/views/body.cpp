#include <datastream/views/body.hpp>

#include <datastream/model/json_document.hpp>
#include <datastream/model/json_text.hpp>
#include <datastream/model/utf8.hpp>

#include <ostream>

namespace datastream {

Body decode_body(ChannelKind kind, std::string_view payload) {
  switch (kind) {
  case ChannelKind::Typed:
    if (const auto document = JsonDocument::parse(payload)) {
      body::Record record;
      document->root().copy_to(record.value);
      return record;
    }
    break;
  case ChannelKind::Text:
    if (is_utf8(payload))
      return body::Text{payload};
    break;
  case ChannelKind::Opaque:
    break;
  }
  return body::Raw{payload};
}

std::string to_string(const Body& body) {
  if (const auto* record = std::get_if<body::Record>(&body)) {
    std::string json;
    append_json(json, record->value);
    return json;
  }
  if (const auto* text = std::get_if<body::Text>(&body))
    return std::string(text->text);
  return '<' + std::to_string(std::get<body::Raw>(body).bytes.size()) + " opaque bytes>";
}

std::ostream& operator<<(std::ostream& out, const Body& body) {
  return out << to_string(body);
}

} // namespace datastream
