#pragma once
/// What node, collector and reader of the word index say to each other besides telemetry, and the
/// records that the node's workers emit.

#include <datastream/actors/type_ids.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/record.hpp>

#include <datastream/caf/inspect.hpp>

#include <caf/type_id.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace word_index {

/// A file was indexed.
struct FileIndexed {
  static constexpr auto CHANNEL = "index.file";
  std::string path;
  std::uint64_t bytes = 0;
  std::uint32_t lines = 0;
  std::uint32_t words = 0;
};
DATASTREAM_RECORD(FileIndexed, path, bytes, lines, words)

/// The words that one file uses most.
struct TopWords {
  static constexpr auto CHANNEL = "index.words";
  std::map<std::string, std::uint32_t> counts;
};
DATASTREAM_RECORD(TopWords, counts)

/// The name under which the collector offers what it passes on.
inline constexpr auto stream_name = "word-index";

/// What arrived on one channel.
struct ChannelTotal {
  std::string name;
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
};
template <class Inspector>
datastream::compat::InspectResult<Inspector> inspect(Inspector& f, ChannelTotal& x) {
  return datastream::compat::inspect_object(f, x, "ChannelTotal", "name", x.name, "frames",
                                            x.frames, "bytes", x.bytes);
}

/// What a subscriber knows when the stream has ended.
struct Report {
  std::string title;
  datastream::SubscriptionId subscription;
  datastream::IngestLedger ledger;
  std::vector<ChannelTotal> channels;
  std::map<std::string, std::uint64_t> words; ///< summed over the records that arrived
  std::vector<std::string> vitals;            ///< how the node is, for people
};
template <class Inspector>
datastream::compat::InspectResult<Inspector> inspect(Inspector& f, Report& x) {
  return datastream::compat::inspect_object(f, x, "Report", "title", x.title, "subscription",
                                            x.subscription, "ledger", x.ledger, "channels",
                                            x.channels, "words", x.words, "vitals", x.vitals);
}

/// What the node has sent to a legacy peer, in frames.
struct Shipped {
  std::uint64_t offered = 0;
  std::uint64_t sent = 0; ///< of these: answered by an actor, or given to the kernel for UDP
};
template <class Inspector>
datastream::compat::InspectResult<Inspector> inspect(Inspector& f, Shipped& x) {
  return datastream::compat::inspect_object(f, x, "Shipped", "offered", x.offered, "sent", x.sent);
}

/// What another reconstruction of the stream has in common with a store.
struct Overlap {
  std::uint64_t frames = 0;    ///< that it has, but for those that the store has evicted
  std::uint64_t both = 0;      ///< of these, frames whose position the store has as well
  std::uint64_t different = 0; ///< of these, on another channel or with other bytes

  Overlap& operator+=(const Overlap& other) {
    frames += other.frames;
    both += other.both;
    different += other.different;
    return *this;
  }
};
template <class Inspector>
datastream::compat::InspectResult<Inspector> inspect(Inspector& f, Overlap& x) {
  return datastream::compat::inspect_object(f, x, "Overlap", "frames", x.frames, "both", x.both,
                                            "different", x.different);
}

/// What the reader has found in the collector's archive.
struct Reread {
  std::uint64_t frames = 0;
  Overlap overlap; ///< with what `log` has stored
};
template <class Inspector>
datastream::compat::InspectResult<Inspector> inspect(Inspector& f, Reread& x) {
  return datastream::compat::inspect_object(f, x, "Reread", "frames", x.frames, "overlap",
                                            x.overlap);
}

} // namespace word_index

CAF_BEGIN_TYPE_ID_BLOCK(word_index, caf::first_custom_type_id)

CAF_ADD_TYPE_ID(word_index, (word_index::Report))
CAF_ADD_TYPE_ID(word_index, (word_index::Shipped))
CAF_ADD_TYPE_ID(word_index, (word_index::Overlap))
CAF_ADD_TYPE_ID(word_index, (word_index::Reread))

// To the node.
/// -> `caf::actor`: its endpoint.
CAF_ADD_ATOM(word_index, word_index, endpoint_atom, "endpoint")
/// With the port of a `datastream-sink` on this machine, as `std::uint16_t` -> nothing, once the
/// stream is on its way there, and to the peer, as envelopes.
CAF_ADD_ATOM(word_index, word_index, ship_atom, "ship")
/// The sender needs the endpoint no more -> `Shipped` to the sink, and to the peer: in the end, for
/// the stream has ended and what ships it is closed.
CAF_ADD_ATOM(word_index, word_index, shipped_atom, "shipped")
/// Work may begin: the sender has subscribed to what it wants to see from the start.
CAF_ADD_ATOM(word_index, word_index, start_atom, "start")
/// Work should end.
CAF_ADD_ATOM(word_index, word_index, stop_atom, "stop")
/// -> accepted, refused: what `submit` answered the workers, as they counted it.
CAF_ADD_ATOM(word_index, word_index, tally_atom, "tally")
/// The sender needs the receiver no more. To the reader as well.
CAF_ADD_ATOM(word_index, word_index, done_atom, "done")

// To the collector. A `Report` comes when the stream has ended.
/// A subscription has begun. The reader adds itself, as `caf::actor`.
CAF_ADD_ATOM(word_index, word_index, subscribed_atom, "subscribed")
/// A subscription has ended before its stream; why, as `caf::error`.
CAF_ADD_ATOM(word_index, word_index, lost_atom, "lost")
/// All that the relay has received, its reader has acknowledged. With the `SubscriptionId` of the
/// relay's own subscription.
CAF_ADD_ATOM(word_index, word_index, relayed_atom, "relayed")

// To the reader.
/// With the path of an archive, as `std::string`, and `log`, as `caf::actor` -> `Reread`.
CAF_ADD_ATOM(word_index, word_index, reread_atom, "reread")

// To a viewer.
/// With what came of the stream by other ways, as `datastream::FramePage` -> `Overlap`.
CAF_ADD_ATOM(word_index, word_index, overlap_atom, "overlap")

// To the sender itself: the end of the stream has been handled.
CAF_ADD_ATOM(word_index, word_index, finish_atom, "finish")

CAF_END_TYPE_ID_BLOCK(word_index)
