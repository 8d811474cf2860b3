#include <datastream/model/json_document.hpp>
#include <datastream/model/json_text.hpp>

#include <nlohmann/json.hpp>

#include <bit>

namespace datastream {

void JsonValue::copy_to(nlohmann::json& out) const {
  switch (node().kind) {
  case Kind::null:
    out = nullptr;
    return;
  case Kind::boolean:
    out = node().bits != 0;
    return;
  case Kind::unsigned_integer:
    out = node().bits;
    return;
  case Kind::negative_integer:
    out = static_cast<std::int64_t>(node().bits);
    return;
  case Kind::floating:
    out = std::bit_cast<double>(node().bits);
    return;
  case Kind::string:
    out = text();
    return;
  case Kind::array:
    out = nlohmann::json::array();
    for (const JsonValue item : items())
      item.copy_to(out.emplace_back());
    return;
  case Kind::object:
    out = nlohmann::json::object();
    for (const auto [key, value] : members())
      value.copy_to(out[std::string(key)]);
    return;
  }
}

void append_json(std::string& out, const nlohmann::json& value, std::size_t levels) {
  switch (value.type()) {
  case nlohmann::json::value_t::boolean:
    out += value.get<bool>() ? "true" : "false";
    return;
  case nlohmann::json::value_t::number_unsigned:
    append_json_integer(out, value.get<std::uint64_t>());
    return;
  case nlohmann::json::value_t::number_integer:
    append_json_integer(out, value.get<std::int64_t>());
    return;
  case nlohmann::json::value_t::number_float:
    append_json_floating(out, value.get<double>());
    return;
  case nlohmann::json::value_t::string:
    append_json_string(out, value.get_ref<const std::string&>());
    return;
  case nlohmann::json::value_t::array:
    if (levels == 0)
      break;
    out += '[';
    for (const nlohmann::json& item : value) {
      append_json(out, item, levels - 1);
      out += ',';
    }
    close_json(out, ']');
    return;
  case nlohmann::json::value_t::object:
    if (levels == 0)
      break;
    out += '{';
    for (const auto& [key, member] : value.items()) {
      append_json_string(out, key);
      out += ':';
      append_json(out, member, levels - 1);
      out += ',';
    }
    close_json(out, '}');
    return;
  case nlohmann::json::value_t::null:
  case nlohmann::json::value_t::binary:
  case nlohmann::json::value_t::discarded:
    break;
  }
  out += "null";
}

} // namespace datastream
