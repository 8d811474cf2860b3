#include "addresses.hpp"
#include "failure.hpp"

#include <algorithm>

namespace datastream {
namespace {

using boost::asio::ip::address;
using boost::asio::ip::address_v6;

/// The same address always as the same value.
address plain(const address& any) {
  if (!any.is_v6())
    return any;
  const address_v6 v6 = any.to_v6();
  if (v6.is_v4_mapped())
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6);
  return address_v6(v6.to_bytes());
}

std::expected<address, CarrierError> parse_address(const std::string& text) {
  boost::system::error_code error;
  address parsed = boost::asio::ip::make_address(text, error);
  if (error)
    return failure(CarrierError::Kind::bad_address, "'" + text + "' is no IPv4 or IPv6 address");
  return parsed;
}

} // namespace

std::expected<address, CarrierError> listen_address(const std::string& text, bool any_interface) {
  auto parsed = parse_address(text);
  if (parsed && !any_interface && !plain(*parsed).is_loopback())
    return failure(CarrierError::Kind::not_loopback,
                   "other machines may reach " + text + ", and any_interface is not set");
  return parsed;
}

std::string endpoint_text(const address& any, std::uint16_t port) {
  const bool mapped = any.is_v6() && any.to_v6().is_v4_mapped();
  const address shown = mapped ? plain(any) : any;
  const std::string text = shown.to_string();
  return (shown.is_v6() ? '[' + text + ']' : text) + ':' + std::to_string(port);
}

std::expected<AllowList, CarrierError> AllowList::parse(const std::vector<std::string>& texts) {
  AllowList list;
  for (const std::string& text : texts) {
    auto parsed = parse_address(text);
    if (!parsed)
      return std::unexpected(std::move(parsed.error()));
    list.addresses_.push_back(plain(*parsed));
  }
  return list;
}

bool AllowList::allows(const address& any) const {
  return addresses_.empty() || std::ranges::find(addresses_, plain(any)) != addresses_.end();
}

} // namespace datastream
