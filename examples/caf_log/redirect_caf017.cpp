// CAF 0.17.6 prints to `std::cout`, whose buffer can be exchanged.
#include "redirect.hpp"

#include <iostream>
#include <mutex>
#include <streambuf>
#include <string>
#include <utility>

namespace ds = datastream;

/// Submits line by line.
struct ConsoleRedirection::State final : std::streambuf {
  State(ds::DatastreamProducer producer, ds::ChannelId id)
      : out(std::move(producer)), channel(id) {}
  ~State() override { std::cout.rdbuf(before); }

  int_type overflow(int_type c) override {
    const std::lock_guard lock(mutex);
    if (c == '\n')
      out.submit_text(channel, std::exchange(line, {}));
    else if (c != traits_type::eof())
      line += traits_type::to_char_type(c);
    return traits_type::not_eof(c);
  }

  ds::DatastreamProducer out;
  ds::ChannelId channel;
  std::mutex mutex{};
  std::string line{};
  std::streambuf* before = std::cout.rdbuf(this);
};

ConsoleRedirection::ConsoleRedirection(caf::actor_system&, ds::DatastreamProducer out,
                                       ds::ChannelId channel)
    : state_(std::make_unique<State>(std::move(out), channel)) {}

ConsoleRedirection::~ConsoleRedirection() = default;
