#include "archive_test_support.hpp"
#include "child_process.hpp"
#include "kill/written_frames.hpp"

#include <datastream/archive/archive_reader.hpp>

#include <cstdlib>
#include <map>
#include <random>
#include <sstream>

using namespace datastream;
using namespace datastream::test;

namespace {

/// What the archive must have, by a record of its own.
class Outside {
public:
  explicit Outside(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// These positions of a stream, from 0 up to below this one, were acknowledged.
  void acknowledged(const StreamId& stream, std::uint64_t end) {
    std::uint64_t& known = acknowledged_[stream];
    known = std::max(known, end);
  }
  std::uint64_t acknowledged(const StreamId& stream) { return acknowledged_[stream]; }

  /// Reads what has been added, through files alone, and looks whether all of it, and all that was
  /// acknowledged, is right.
  void look() {
    auto reader = ArchiveReader::open(directory_);
    REQUIRE(reader);
    auto cursor = reader->read_from({next_});
    REQUIRE(cursor);
    while (true) {
      const auto batch = cursor->next();
      if (!batch)
        FAIL(batch.error());
      if (!*batch)
        break;
      const FrameBatch& frames = (*batch)->frames;
      std::uint64_t& found = found_[frames.stream()];
      bool right = true;
      for (std::size_t i = 0; i < frames.size(); ++i, ++found, ++next_)
        right = right && (*batch)->sequence(i).value == next_ &&
                frames[i].to_frame() == written_frame(frames.stream(), found);
      REQUIRE(right);
    }
    for (const auto& [stream, end] : acknowledged_) {
      CAPTURE(stream);
      REQUIRE(found_[stream] >= end);
    }
  }
  std::uint64_t frames() const { return next_ - 1; }
  void look_at_everything() {
    next_ = 1;
    found_.clear();
    look();
    CHECK(ArchiveReader::open(directory_)->verify().empty());
  }

private:
  std::filesystem::path directory_;
  std::map<StreamId, std::uint64_t> acknowledged_;
  std::map<StreamId, std::uint64_t> found_;
  std::uint64_t next_ = 1;
};

} // namespace

TEST_CASE("a_writer_that_is_killed_a_hundred_times_loses_nothing_that_it_acknowledged") {
  const char* more = std::getenv("DATASTREAM_KILLS"); // for whoever has time
  const std::uint64_t kills = more ? std::strtoull(more, nullptr, 10) : 100;
  TemporaryDirectory directory;
  Outside outside(directory / "archive");
  std::mt19937_64 random(1);
  bool exists = false;
  for (std::uint64_t life = 0; life <= kills; ++life) {
    CAPTURE(life);
    std::vector<std::string> command = {ARCHIVE_WRITER, (directory / "archive").string(),
                                        std::to_string(life),
                                        std::to_string(outside.acknowledged(steady_stream()))};
    if (life == kills)
      command.push_back("1000"); // and may end
    ChildProcess writer(command);
    const auto note = [&](const std::string& line) {
      std::istringstream in(line);
      std::string word;
      std::uint64_t steady = 0;
      std::uint64_t reborn = 0;
      if (!(in >> word >> steady >> reborn) || word != "acknowledged")
        return std::uint64_t{0};
      outside.acknowledged(steady_stream(), steady);
      outside.acknowledged(reborn_stream("reborn", life), reborn);
      outside.acknowledged(reborn_stream("reborn too", life), reborn);
      return reborn;
    };
    writer.expect("opening");
    // Each fourth one is killed while it recovers from the kill before, or right behind that.
    if (life % 4 != 0 || life == kills) {
      writer.expect("opened");
      exists = true;
      const std::uint64_t enough = random() % 1500;
      while (const auto line = writer.read_line())
        if (note(*line) >= enough && life < kills)
          break;
    }
    if (life < kills)
      writer.signal(SIGKILL);
    const int ended = writer.reap();
    CHECK(ended == (life < kills ? 128 + SIGKILL : 0));
    while (const auto line = writer.read_line()) // what it still said
      note(*line);
    if (exists)
      outside.look();
  }
  outside.look_at_everything();
  CHECK(outside.acknowledged(reborn_stream("reborn", kills)) == 1000);
  CHECK(segment_names(directory / "archive").size() > 20);
  MESSAGE(outside.frames(), " frames in ", segment_names(directory / "archive").size(),
          " segments");
}
