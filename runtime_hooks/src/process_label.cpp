#include <datastream/hooks/process_label.hpp>

#include <mutex>
#include <set>

namespace datastream {
namespace {

struct LabelsInUse {
  std::mutex mutex; // taken alone
  std::set<std::pair<StreamId, std::string>> keys;
};

/// Never destroyed: processes may end while the program does.
LabelsInUse& labels_in_use() {
  static auto* const labels = new LabelsInUse;
  return *labels;
}

std::string_view last_segment(std::string_view path) {
  const auto last = path.find_last_not_of("/\\");
  if (last == std::string_view::npos)
    return {};
  path = path.substr(0, last + 1);
  return path.substr(path.find_last_of("/\\") + 1);
}

std::string normalised(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    if (kept)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  if (out.ends_with('_'))
    out.pop_back();
  return out;
}

} // namespace

std::expected<std::string, ProcessError> process_label(std::optional<std::string_view> given,
                                                       std::string_view command) {
  std::string label = normalised(given ? *given : last_segment(command));
  if (label.empty())
    return std::unexpected(ProcessError{ProcessError::Kind::invalid_label,
                                        "no letter or digit in the process label '" +
                                            std::string(given ? *given : command) + "'"});
  return label;
}

std::expected<ProcessLabelReservation, ProcessError>
ProcessLabelReservation::reserve(const StreamId& stream, std::string label) {
  Key key{stream, std::move(label)};
  LabelsInUse& labels = labels_in_use();
  const std::lock_guard lock(labels.mutex);
  if (!labels.keys.insert(key).second)
    return std::unexpected(ProcessError{ProcessError::Kind::label_in_use,
                                        "channel proc." + key.second + ".lifecycle of stream " +
                                            to_string(stream) + " belongs to a live process"});
  return ProcessLabelReservation{std::move(key)};
}

ProcessLabelReservation::~ProcessLabelReservation() {
  if (!key_)
    return;
  LabelsInUse& labels = labels_in_use();
  const std::lock_guard lock(labels.mutex);
  labels.keys.erase(*key_);
}

} // namespace datastream
