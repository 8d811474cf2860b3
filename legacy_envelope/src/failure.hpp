#pragma once

#include <datastream/envelope/carrier.hpp>

#include <expected>
#include <string>
#include <utility>

namespace datastream {

inline std::unexpected<CarrierError> failure(CarrierError::Kind kind, std::string message) {
  return std::unexpected(CarrierError{kind, std::move(message)});
}

} // namespace datastream
