#pragma once

#include <datastream/envelope/carrier.hpp>

#include <utility> // Boost 1.74 forgets it

#include <boost/asio/ip/address.hpp>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace datastream {

/// The address to listen on; an error unless others may reach it only if that is permitted.
std::expected<boost::asio::ip::address, CarrierError> listen_address(const std::string& text,
                                                                     bool any_interface);

/// `127.0.0.1:4711`, `[::1]:4711`; an IPv4 peer of an IPv6 socket as the former.
std::string endpoint_text(const boost::asio::ip::address& address, std::uint16_t port);

/// Who may send.
class AllowList {
public:
  static std::expected<AllowList, CarrierError> parse(const std::vector<std::string>& texts);
  /// True for everybody if the list is empty. Zones of IPv6 addresses are ignored.
  bool allows(const boost::asio::ip::address& address) const;

private:
  std::vector<boost::asio::ip::address> addresses_;
};

} // namespace datastream
