#pragma once
/// What an endpoint shares with its producers, which may outlive it.

#include <datastream/pipe/catalog.hpp>
#include <datastream/pipe/delivery_fanout.hpp>
#include <datastream/pipe/mux.hpp>

#include <expected>
#include <memory>
#include <string>

namespace datastream {

struct PipeState {
  PipeState(StreamDescriptor stream, MuxOptions options)
      : catalog(std::make_shared<Catalog>()), mux(stream.stream, options), fanout(catalog) {
    catalog->declare_stream(std::move(stream));
    fanout.expect_next(mux.stream_id(), Position{0});
  }

  std::expected<ChannelId, CatalogError> register_channel(std::string name,
                                                          ChannelContent content) {
    const std::size_t before = catalog->version();
    auto id = catalog->register_channel(mux.stream_id(), std::move(name), std::move(content));
    if (id && catalog->version() != before)
      mux.wake(); // the next tick tells subscribers
    return id;
  }

  const std::shared_ptr<Catalog> catalog;
  Mux mux;
  DeliveryFanout fanout;
};

} // namespace datastream
