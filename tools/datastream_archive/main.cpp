/// datastream-archive: looks after archives and shows what is in them. `datastream-archive --help`.

#include "commands.hpp"
#include "faults.hpp"
#include "status.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace {

using namespace datastream;
using namespace datastream::tool;

constexpr const char* status_help =
    "Exit status: 0 all is well; 1 something is damaged, missing or bad, and everything else was\n"
    "done: it is named on standard error, by verify on standard output; 2 wrong usage; 3 it could\n"
    "not be done.";

/// An option that is read by `parse`, which answers nothing for what it cannot read.
template <class Parse, class Take>
CLI::Option* add_parsed(CLI::App& command, const std::string& names, Parse parse, Take take,
                        const std::string& help) {
  return command
      .add_option_function<std::string>(
          names,
          [=](const std::string& text) {
            const auto value = parse(text);
            if (!value)
              throw CLI::ValidationError(names, "cannot be \"" + text + '"');
            take(*value);
          },
          help)
      ->trigger_on_parse();
}

void add_sequences(CLI::App& command, CatOptions& options) {
  add_parsed(
      command, "--from", parse_number, [&](std::uint64_t from) { options.from = {from}; },
      "From this sequence on")
      ->type_name("NUMBER");
  add_parsed(
      command, "--to", parse_number, [&](std::uint64_t to) { options.to = {to}; },
      "Up to this sequence")
      ->type_name("NUMBER");
}

void add_cat(CLI::App& app, CatOptions& options) {
  CLI::App& command =
      *app.add_subcommand("cat", "Show frames: stream by stream in the order of positions, with "
                                 "what is missing; or in the order in which they arrived");
  command.add_option("directory", options.directory, "The archive")->required();
  add_parsed(
      command, "--stream", parse_stream_id,
      [&](const StreamId& stream) { options.streams.push_back(stream); },
      "NODE#LIFE: this stream only; may be repeated")
      ->type_name("STREAM");
  CLI::Option* channel = command
                             .add_option("--channel", options.channels,
                                         "The channel of this name only; may be repeated")
                             ->take_all()
                             ->allow_extra_args(false);
  add_parsed(
      command, "--positions", parse_positions,
      [&](PositionRange range) { options.positions = range; },
      "5..9, 5.., ..9 or 5: these positions only")
      ->type_name("RANGE");
  command.add_option("--grep", options.grep, "Only what contains this text");
  CLI::Option* raw =
      command.add_flag("--raw", options.raw, "The payloads as they are, and nothing else");

  const std::string by_stream = "Stream by stream";
  CLI::Option* tail =
      add_parsed(
          command, "--tail", parse_number, [&](std::uint64_t count) { options.tail = count; },
          "The last so many frames of each stream, of those that are asked for")
          ->type_name("NUMBER");
  CLI::Option* lines = command.add_option("--lines", options.lines,
                                          "The output of a program, as lines, from this channel");
  CLI::Option* series =
      command.add_option("--series", options.series,
                         "The records of this channel over their positions, each a line of JSON");
  for (CLI::Option* option : {tail, lines, series})
    option->group(by_stream);
  tail->excludes(lines)->excludes(series);
  lines->excludes(series)->excludes(channel);
  series->excludes(channel)->excludes(raw);

  const std::string by_arrival = "In the order in which they arrived";
  const auto now = std::chrono::system_clock::now();
  const auto time = [now](const std::string& text) { return parse_time(text, now); };
  add_sequences(command, options);
  add_parsed(
      command, "--since", time, [&](Time since) { options.since = since; },
      "What arrived at this time or later: 2025-11-30T12:34:56Z, or 10m ago")
      ->type_name("TIME");
  add_parsed(
      command, "--until", time, [&](Time until) { options.until = until; },
      "What arrived before this time")
      ->type_name("TIME");
  command.add_flag("--arrivals", options.by_sequence, "All of it in this order");
  command.add_flag("--follow", options.follow, "Go on with what will come");
  command.add_flag("--json", options.json, "As export writes it");
  std::vector<CLI::Option*> asked_by_arrival;
  for (const char* name :
       {"--from", "--to", "--since", "--until", "--arrivals", "--follow", "--json"}) {
    CLI::Option* option = command.get_option(name)->group(by_arrival);
    for (CLI::Option* other : {tail, lines, series})
      option->excludes(other);
    asked_by_arrival.push_back(option);
  }
  command.get_option("--json")->excludes(raw);
  command.callback([&options, asked_by_arrival] {
    for (const CLI::Option* option : asked_by_arrival)
      options.by_sequence |= option->count() != 0;
  });
}

/// Runs what the command line says.
Status run(int argc, char** argv, Output& out, Faults& faults) {
  CLI::App app("Looks after archives of streams, and shows what is in them.", "datastream-archive");
  app.set_version_flag("--version", DATASTREAM_VERSION);
  app.require_subcommand(1);
  app.footer(status_help);

  std::filesystem::path directory;
  std::filesystem::path file;
  std::string import_source;
  bool json = false;
  const auto add_command = [&](const char* name, const char* help) -> CLI::App& {
    CLI::App& command = *app.add_subcommand(name, help);
    command.add_option("directory", directory, "The archive")->required();
    return command;
  };
  add_command("info", "What is in an archive").add_flag("--json", json, "As one object of JSON");
  add_command("verify", "Read every byte, and tell each fault");
  add_command("reindex", "Make the index anew, from the segments. Where acknowledged frames are "
                         "gone, accept that: they become a hole");
  CatOptions cat_options;
  add_cat(app, cat_options);
  CLI::App& import_command =
      add_command("import", "Store frames from a file of JSON lines: what export writes, and what "
                            "the orchestrator and nodes of this protocol keep");
  import_command.add_option("file", file, "The file; it is read twice, so it cannot be a pipe")
      ->required();
  import_command.add_option("--source", import_source,
                            "What the archive says of itself from here on");
  CatOptions export_options;
  export_options.by_sequence = true;
  export_options.json = true;
  CLI::App& export_command =
      *app.add_subcommand("export", "Write all frames as lines of JSON, in the order in which they "
                                    "arrived");
  export_command.add_option("directory", export_options.directory, "The archive")->required();
  export_command.add_option("--source", export_options.source,
                            "What to write as source; otherwise what the archive says, or "
                            "\"archive\" if it says nothing");
  add_sequences(export_command, export_options);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out.stream(), std::cerr) == 0 ? Status::all_well : Status::usage;
  }
  const auto chosen = [&](const char* name) { return app.got_subcommand(name); };
  if (chosen("info"))
    info(directory, json, out, faults);
  else if (chosen("verify"))
    verify(directory, out, faults);
  else if (chosen("reindex"))
    make_index(directory, out, faults);
  else if (chosen("import"))
    import(directory, file, import_source, out, faults);
  else
    cat(chosen("export") ? export_options : cat_options, out, faults);
  return faults.status();
}

} // namespace

int main(int argc, char** argv) {
  // A pipe that is closed shows when one writes to it.
  std::signal(SIGPIPE, SIG_IGN);
  Output out;
  Faults faults;
  Status status = Status::failed;
  std::string failure;
  try {
    status = run(argc, argv, out, faults);
  } catch (const NobodyReads&) {
    return static_cast<int>(faults.status());
  } catch (const std::bad_alloc&) {
    failure = "there is not enough memory";
  } catch (const std::exception& error) {
    failure = error.what();
  }
  try {
    if (out.stream().good())
      out.finish(); // also what there was before a failure
  } catch (const NobodyReads&) {
  } catch (const std::exception& error) {
    failure = error.what();
    status = Status::failed;
  }
  if (!failure.empty())
    say(failure);
  return static_cast<int>(status);
}
