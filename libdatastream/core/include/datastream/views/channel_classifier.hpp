#pragma once
/// How far a view decodes the payloads of a channel: the caller's decision, by the channel's name
/// (specification 5.2, 5.3).

#include <datastream/model/channel_content.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/model/subscription_request.hpp>

#include <concepts>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace datastream {

enum class ChannelKind {
  Opaque, ///< not decoded
  Text,   ///< decoded as UTF-8
  Typed,  ///< decoded as JSON
};

/// Anything that can be called with a channel's name: a `ChannelRegistry`, a function, a lambda.
template <class C>
concept ChannelClassifier = std::copy_constructible<C> &&
                            std::is_invocable_r_v<ChannelKind, const C&, std::string_view>;

/// Channel names that the caller knows. All others are opaque, which is never an error.
///
///     ChannelRegistry known;
///     known.typed("worker.load").text_prefix("proc.");
///
/// Thread safety: const functions may run concurrently with each other.
class ChannelRegistry {
public:
  ChannelRegistry& typed(std::string name);
  ChannelRegistry& text(std::string name);
  /// Every channel whose name starts with this is text, unless it is known to be typed.
  ChannelRegistry& text_prefix(std::string prefix);

  /// A typed name first, then a text name or prefix.
  ChannelKind operator()(std::string_view name) const;

private:
  std::set<std::string, std::less<>> typed_;
  std::set<std::string, std::less<>> text_;
  std::vector<std::string> text_prefixes_;
};

/// The kind that a channel's declared content suggests.
ChannelKind channel_kind(const ChannelContent& content);

/// Knows the declared channels of one stream, by their declared content.
ChannelRegistry registry_of(const DatastreamSnapshot& catalog, const StreamId& stream);

} // namespace datastream
