#include "commands.hpp"
#include "failure.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_reader.hpp>
#include <datastream/archive/json_lines.hpp>

#include <fstream>
#include <string>

namespace datastream::tool {

namespace {

/// It is written with the next thing that is stored, of which there may have been none.
bool says(const std::filesystem::path& directory, const std::string& source) {
  ArchiveReader reader = must(ArchiveReader::open(directory));
  return must(reader.source(Holes::leave_out)) == source;
}

} // namespace

void import(const std::filesystem::path& directory, const std::filesystem::path& file,
            const std::string& source, Output& out, Faults& faults) {
  // No archive is made for what cannot be read, and twice.
  std::ifstream in(file, std::ios::binary);
  if (in.is_open() && in.tellg() == std::ifstream::pos_type(-1))
    throw Failure(file.string() + " cannot be read twice, as an import does: a pipe has to be "
                                  "written to a file first");
  in.peek();
  if (in.bad() || !in.is_open())
    throw Failure(file.string() + " cannot be read");
  in.clear();

  const auto archive = must(Archive::open(directory, {.source = source}));
  for (const ArchiveError& hole : archive->recovery().holes)
    faults.report(hole);
  if (archive->recovery().torn_bytes != 0)
    say("cut off " + std::to_string(archive->recovery().torn_bytes) +
        " bytes that were never acknowledged");
  const ImportReport report = must(import_json_lines(in, *archive, [&](const BadLine& bad) {
    faults.report(file.string() + ":" + std::to_string(bad.number) + ": " + bad.reason);
  }));
  must(archive->close());

  const Archive::Appended& done = report.appended;
  if (done.not_stored != 0)
    faults.report(std::to_string(done.not_stored) + " frames could not be stored");
  if (done.conflicts != 0)
    faults.report(std::to_string(done.conflicts) + " frames differ from what was stored already");
  if (!source.empty() && !says(directory, source))
    faults.report("the archive does not say the source " + source +
                  ", because nothing new was stored with it");
  const auto count = [&](std::uint64_t number, const char* what) {
    if (number != 0)
      out.line("  " + std::to_string(number) + ' ' + what);
  };
  out.line(std::to_string(report.lines) + " lines, " + std::to_string(report.frames) + " frames");
  count(done.taken, "stored");
  count(done.duplicates, "were stored already");
  count(done.unverified, "were stored already, nobody knows whether they differ");
  count(done.conflicts, "differ from what was stored already, which stays");
  count(done.not_stored, "could not be stored");
  count(report.bad_lines, "bad lines");
}

} // namespace datastream::tool
