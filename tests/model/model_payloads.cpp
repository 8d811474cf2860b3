#include "model_payloads.hpp"

#include <datastream/defaults.hpp>

namespace datastream::model_test {

PayloadPtr make_payload(std::uint32_t sort, std::uint32_t number) {
  const std::string text = std::to_string(number);
  Payload payload;
  switch (sort % 40) {
  case 0:
    break; // empty
  case 1:
  case 2:
  case 3:
    payload.bytes = "line " + text + "\n";
    break;
  case 4:
  case 5:
    payload.bytes = "part of line " + text;
    break;
  case 6:
  case 7:
    payload.bytes = " and its end\r\nline " + text + "\nmore";
    break;
  case 8:
  case 9:
    payload.bytes = "\xff\xfe line " + text;
    payload.utf8 = false;
    break;
  case 10:
  case 11:
  case 12:
    payload.bytes = R"({"queue":)" + text + R"(,"busy":0.25})";
    payload.json = true;
    payload.load = Load{number, 0.25};
    break;
  case 13:
  case 14: // of another version: one field is missing, another one nobody knows
    payload.bytes = R"({"later":[1,{"queue":"x"}],"queue":)" + text + "}";
    payload.json = true;
    payload.load = Load{number};
    break;
  case 15: // never narrowed
    payload.bytes = R"({"queue":-)" + std::to_string(number + 1) + "}";
    payload.json = true;
    break;
  case 16:
    payload.bytes = R"({"queue":)" + text; // cut short
    break;
  case 17:
    payload.bytes = std::string(number % 20'000, 'x');
    break;
  case 18:
    if (number % 8 == 0) {
      payload.bytes = std::string(defaults::slab_payload_max + number, 'y');
      break;
    }
    [[fallthrough]];
  default:
    payload.bytes = std::string(number % 64, static_cast<char>('a' + sort % 5));
  }
  return std::make_shared<const Payload>(std::move(payload));
}

} // namespace datastream::model_test
