#pragma once
/// One line of a merged log (specification 8.2).

#include <datastream/ingest/gap.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/views/body.hpp>
#include <datastream/views/channel_classifier.hpp>

#include <iosfwd>
#include <string>
#include <variant>

namespace datastream {

/// A stored frame and how to decode it. Refers to the store; nothing is decoded or copied until
/// `body` is asked for.
struct LogFrame {
  FrameView frame; ///< with its channel's name where the log knows names
  ChannelKind kind = ChannelKind::Opaque;

  Body body() const { return decode_body(kind, frame.payload); }
};

/// A frame, positions that are missing in front of the next frame, or what retention removed in
/// front of it all, which is never a gap.
using LogEntry = std::variant<LogFrame, GapSpan, EvictedRange>;

/// For people:
///
///     #3 [runtime.log] hello        the channel's number where its name is not known
///     #4    --- 2 missing ---
///     #0    --- 12 evicted ---      with ", 3 missing between them" where they were not all
std::string to_string(const LogEntry& entry);
std::ostream& operator<<(std::ostream& out, const LogEntry& entry);

} // namespace datastream
