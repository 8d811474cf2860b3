#include "documents.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace fs = std::filesystem;

namespace docs_test {
namespace {

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos)
    return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

bool is_row(std::string_view line) {
  return line.starts_with('|') && line.ends_with('|');
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line.remove_prefix(1);
  for (std::size_t end = 0; (end = line.find('|')) != std::string_view::npos;
       line.remove_prefix(end + 1))
    cells.push_back(trimmed(line.substr(0, end)));
  return cells;
}

} // namespace

fs::path source_dir() {
  return DATASTREAM_SOURCE_DIR;
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> all_files() {
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(source_dir());
       at != fs::recursive_directory_iterator(); ++at) {
    const std::string name = at->path().filename().string();
    if (name == ".git" || (at.depth() == 0 && name == "build"))
      at.disable_recursion_pending();
    else if (at->is_regular_file())
      files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<fs::path> documents() {
  auto files = all_files();
  std::erase_if(files, [](const fs::path& file) { return file.extension() != ".md"; });
  return files;
}

std::vector<std::string> captures(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

std::string prose(const std::string& markdown, bool keep_spans) {
  std::string result;
  std::istringstream lines(markdown);
  bool fenced = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      continue;
    }
    if (!fenced && !line.starts_with("    "))
      result += line + '\n';
  }
  return keep_spans ? result : std::regex_replace(result, std::regex("`[^`\n]*`"), "");
}

std::set<std::string> code_spans(std::string_view text) {
  const auto found = captures(std::string(text), "`([^`\n]*)`");
  return {found.begin(), found.end()};
}

std::vector<std::string> fenced_blocks(const std::string& markdown, const std::string& language) {
  const std::string fence = "\n```" + language + "\n";
  std::vector<std::string> blocks;
  for (auto at = markdown.find(fence); at != std::string::npos; at = markdown.find(fence, at)) {
    const auto begin = at + fence.size();
    at = markdown.find("\n```\n", begin);
    if (at == std::string::npos)
      break;
    blocks.push_back(markdown.substr(begin, at + 1 - begin));
  }
  return blocks;
}

std::set<std::string> anchors(const std::string& markdown) {
  std::set<std::string> result;
  for (const std::string& heading : captures('\n' + prose(markdown, true), "\n#+ ([^\n]*)")) {
    std::string anchor;
    for (const unsigned char c : heading)
      if (std::isalnum(c) || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(c));
      else if (c == ' ')
        anchor += '-';
    result.insert(anchor);
  }
  return result;
}

std::string Row::cell(std::string_view column) const {
  const auto place = static_cast<std::size_t>(std::ranges::find(header_, column) - header_.begin());
  return place < cells_.size() ? cells_[place] : std::string();
}

bool Row::has(std::string_view column) const {
  return std::ranges::find(header_, column) != header_.end();
}

std::string Row::text() const {
  std::string all;
  for (const std::string& cell : cells_)
    all += cell + " | ";
  return all;
}

std::vector<Row> table_rows(const std::string& markdown) {
  std::vector<Row> rows;
  std::istringstream lines(prose(markdown, true));
  std::vector<std::string> header;
  for (std::string line; std::getline(lines, line);) {
    if (!is_row(line))
      header.clear();
    else if (header.empty())
      header = cells_of(line);
    else if (!line.starts_with("|--") && !line.starts_with("| --"))
      rows.emplace_back(header, cells_of(line));
  }
  return rows;
}

} // namespace docs_test
