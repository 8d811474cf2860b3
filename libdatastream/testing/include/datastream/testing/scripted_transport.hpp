#pragma once
/// A transport that misbehaves as it is told, for tests of whatever receives frames
/// (specification 6.3). The same script and the same frames always give the same deliveries.

#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <variant>
#include <vector>

namespace datastream::testing {

/// How the frames that were not dropped are put in another order.
namespace reorder {
struct InOrder {};
struct Reversed {};
/// Each run of `size` frames is reversed; the last run may be shorter. 0 means 1.
struct Windows {
  std::size_t size = 1;
};
/// The nth delivery is the frame with the nth of these indices, which count the frames that were
/// not dropped, from 0. An index that is missing drops its frame, one that repeats duplicates it,
/// and one beyond the last frame is skipped.
struct Permutation {
  std::vector<std::size_t> indices;
};
} // namespace reorder

using Reorder =
    std::variant<reorder::InOrder, reorder::Reversed, reorder::Windows, reorder::Permutation>;

/// What happens to the frames of a stream, by their positions; in the order of the members.
struct Script {
  /// Never delivered.
  std::set<Position> drop{};
  Reorder reorder{};
  /// Delivered this many times more, right behind the first time.
  std::map<Position, std::size_t> duplicate{};
  /// Held back until this many of the deliveries behind it have passed, or no more come.
  std::map<Position, std::size_t> delay{};
};

/// The frames that one stream sends.
struct SentStream {
  StreamId stream;
  std::vector<Frame> frames;
};

/// Carries frames as its script says. It never changes a payload, a channel, a position or a
/// stream, and makes up no frame.
///
///     const ScriptedTransport transport{{.drop = {{1}}, .reorder = reorder::Reversed{}}};
///     consumer.ingest(transport.carry(stream, frames));
///
/// Thread safety: immutable once made.
class ScriptedTransport {
public:
  /// Delivers everything in order.
  ScriptedTransport() = default;
  explicit ScriptedTransport(Script script);

  /// What arrives of the frames of one stream, in order of arrival.
  std::vector<Delivery> carry(const StreamId& stream, std::span<const Frame> frames) const;
  std::vector<Delivery> carry(const FrameBatch& batch) const;

  /// What arrives of several streams that share the transport: each carried by itself under the
  /// same script, then one delivery of each in turn until all are through.
  std::vector<Delivery> carry_all(std::span<const SentStream> streams) const;

private:
  Script script_;
};

} // namespace datastream::testing
