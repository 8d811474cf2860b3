#pragma once
/// Reads `/proc/net/dev`.

#include <datastream/records/host_net.hpp>

#include <string_view>
#include <vector>

namespace datastream::host {

/// Lines without a name, or without a number in each of the sixteen columns, are left out.
std::vector<NetInterfaceRecord> parse_net_dev(std::string_view text);

} // namespace datastream::host
