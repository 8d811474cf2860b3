#pragma once
/// Names for the channel numbers of one stream, as views ask for them (specification 5.8, 7.4).

#include <datastream/model/ids.hpp>
#include <datastream/model/subscription_request.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace datastream {

/// Anything that can be called with a channel's number and answers its name, or nothing. The names
/// must stay valid as long as the view that asks.
template <class N>
concept NameResolver =
    std::copy_constructible<N> && std::is_invocable_v<const N&, ChannelId> &&
    std::same_as<std::invoke_result_t<const N&, ChannelId>, std::optional<std::string_view>>;

/// The names that a catalog knew. Copies them; names that it answers live as long as it does, so
/// hand it to a view by `std::cref`.
///
/// Thread safety: const functions may run concurrently with each other.
class ChannelNames {
public:
  ChannelNames(const DatastreamSnapshot& catalog, const StreamId& stream);

  std::optional<std::string_view> operator()(ChannelId channel) const;
  /// The channel of that name, if there is one.
  std::optional<ChannelId> find(std::string_view name) const;

private:
  std::unordered_map<ChannelId, std::string> names_;
};

} // namespace datastream
