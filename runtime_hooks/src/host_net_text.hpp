#pragma once
/// Reads `/proc/net/dev`.

#include <datastream/records/host_net.hpp>

#include <string_view>
#include <vector>

namespace datastream::host {

/// Lines without a name or with too few columns are left out; a number that makes no sense is 0.
std::vector<NetInterfaceRecord> parse_net_dev(std::string_view text);

} // namespace datastream::host
