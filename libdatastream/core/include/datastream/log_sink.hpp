#pragma once
/// Where the library reports what goes wrong and what nobody waits for an answer to.

#include <functional>
#include <string_view>

namespace datastream {

enum class LogSeverity {
  info,    ///< something works again
  warning, ///< a peer or a setting is at fault; it is ignored
  error,   ///< something of ours does not work
};

std::string_view to_string(LogSeverity severity);

/// Takes one line of text, without a line end. Called from any thread, one call at a time; must not
/// call `set_log_sink` or anything that logs. Rare: what could come for every frame is counted in a
/// ledger instead.
using LogSink = std::function<void(LogSeverity, std::string_view)>;

/// Replaces the sink of this process; without one, nothing is logged. By default lines go to the
/// standard error output. Returns the previous sink. Thread safety: from any thread; when it
/// returns, the old sink is called no more.
LogSink set_log_sink(LogSink sink);

/// Logs one line. Never throws.
void log_message(LogSeverity severity, std::string_view text) noexcept;

} // namespace datastream
