#include <datastream/archive/json_lines.hpp>

#include "json_line.hpp"
#include "line_reader.hpp"

#include <datastream/defaults.hpp>

#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace datastream {

namespace {

/// Every byte of the largest body, escaped as a JSON string would, and what is around it.
constexpr std::size_t line_bytes_max = std::size_t{256} << 20U;

/// Decides which lines are frames. Asked twice for the same lines it answers the same.
class LineCheck {
public:
  explicit LineCheck(const Catalog& catalog) : catalog_(catalog) {}

  std::expected<JsonLine, std::string> operator()(const LineReader& lines) {
    if (lines.too_long())
      return std::unexpected("longer than " + std::to_string(line_bytes_max >> 20U) + " MiB");
    auto line = parse_json_line(lines.line());
    if (line && line->channel && *line->channel != name_of(*line))
      return std::unexpected("`channel_id` " + std::to_string(line->frame.channel.value) +
                             " has another name: " + name_of(*line));
    return line;
  }

private:
  /// The first name that the channel of a line had.
  const std::string& name_of(const JsonLine& line) {
    const ChannelRef ref{line.stream, line.frame.channel};
    const auto known = names_.find(ref);
    if (known != names_.end())
      return known->second;
    const auto declared = catalog_.find_channel(ref.stream, ref.channel);
    return names_.emplace(ref, declared ? declared->name : *line.channel).first->second;
  }

  const Catalog& catalog_;
  std::map<ChannelRef, std::string> names_;
};

/// Stores lines, those that go together in one batch.
class LineStore {
public:
  LineStore(Archive& archive, ImportReport& report) : archive_(archive), report_(report) {}

  void add(JsonLine line) {
    if (line.stream != stream_ || line.arrival != arrival_ ||
        frames_.size() >= defaults::batch_frames || bytes_ >= defaults::batch_bytes)
      store();
    if (line.channel && !archive_.catalog().find_channel(line.stream, line.frame.channel))
      archive_.declare(std::make_shared<const ChannelDescriptor>(
          line.stream, line.frame.channel, std::move(*line.channel), std::nullopt, Bytes{}));
    stream_ = std::move(line.stream);
    arrival_ = line.arrival;
    bytes_ += line.frame.payload.size();
    frames_.push_back(std::move(line.frame));
  }

  void store() {
    if (frames_.empty())
      return;
    const FrameBatch batch = FrameBatch::copy_of(stream_, frames_);
    const Archive::Appended done =
        arrival_ ? archive_.append(batch, *arrival_) : archive_.append(batch);
    report_.frames += frames_.size();
    Archive::Appended& sum = report_.appended;
    sum.taken += done.taken;
    sum.duplicates += done.duplicates;
    sum.conflicts += done.conflicts;
    sum.unverified += done.unverified;
    sum.not_stored += done.not_stored;
    sum.ticket = done.ticket;
    frames_.clear();
    bytes_ = 0;
  }

private:
  Archive& archive_;
  ImportReport& report_;
  StreamId stream_;
  std::optional<std::chrono::system_clock::time_point> arrival_;
  std::vector<Frame> frames_;
  std::size_t bytes_ = 0;
};

std::unexpected<ArchiveError> bad_input(std::string message) {
  return std::unexpected(ArchiveError{ArchiveError::Kind::bad_input, std::move(message), {}});
}

} // namespace

std::expected<ImportReport, ArchiveError>
import_json_lines(std::istream& in, Archive& archive,
                  const std::function<void(const BadLine&)>& bad_line) {
  ImportReport report;
  LineCheck check(archive.catalog());
  const std::istream::pos_type begin = in.tellg();
  if (begin == std::istream::pos_type(-1))
    return bad_input("the input cannot be read twice");
  LineReader checked(in, line_bytes_max);
  while (checked.next()) {
    const auto line = check(checked);
    if (!line) {
      ++report.bad_lines;
      if (bad_line)
        bad_line({checked.number(), line.error()});
    }
  }
  report.lines = checked.number();
  if (in.bad())
    return bad_input("the input cannot be read behind line " + std::to_string(report.lines));

  in.clear();
  if (!in.seekg(begin))
    return bad_input("the input cannot be read twice");
  LineStore store(archive, report);
  LineReader lines(in, line_bytes_max);
  while (lines.next())
    if (auto line = check(lines))
      store.add(std::move(*line));
  store.store();
  const auto durable = archive.flush();
  if (in.bad() || lines.number() != report.lines)
    return bad_input("the input has changed while it was read; a part of it is stored");
  if (!durable)
    return std::unexpected(durable.error());
  return report;
}

} // namespace datastream
