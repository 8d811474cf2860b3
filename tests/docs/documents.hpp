#pragma once
/// Reads the repository's text: files, and the parts of Markdown that the tests look at.

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace docs_test {

std::filesystem::path source_dir();
std::string read(const std::filesystem::path& file);
/// All regular files of the repository, without what was built.
std::vector<std::filesystem::path> all_files();
/// All Markdown files of the repository.
std::vector<std::filesystem::path> documents();

/// Every text that the first group of `pattern` matches.
std::vector<std::string> captures(const std::string& text, const std::string& pattern);

/// The text without its blocks of code and, unless `keep_spans`, without code between backticks.
std::string prose(const std::string& markdown, bool keep_spans = false);
/// The code between backticks, of prose.
std::set<std::string> code_spans(std::string_view text);
/// The fenced blocks in that language, without their fences.
std::vector<std::string> fenced_blocks(const std::string& markdown, const std::string& language);
/// The anchors that headings can be reached by.
std::set<std::string> anchors(const std::string& markdown);

/// A row of a table, as its cells by the names of their columns.
class Row {
public:
  Row(std::vector<std::string> header, std::vector<std::string> cells)
      : header_(std::move(header)), cells_(std::move(cells)) {}
  /// Empty if there is no such column or cell.
  std::string cell(std::string_view column) const;
  bool has(std::string_view column) const;
  std::string text() const;

private:
  std::vector<std::string> header_;
  std::vector<std::string> cells_;
};

/// The rows of all tables, without their headers.
std::vector<Row> table_rows(const std::string& markdown);

} // namespace docs_test
