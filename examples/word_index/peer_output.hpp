#pragma once
/// The node's stream as `peer.py` has put it together.

#include <datastream/model/frame_batch.hpp>

#include <cstdint>
#include <expected>
#include <functional>
#include <string>

/// Ends the input of the peer, whose writing end is the descriptor `control`, reads from the
/// descriptor `output` what the peer then writes, and gives it to `take`. Returns how many frames
/// came, or what is wrong with them: they must be whole, of one stream, and in the order of
/// positions, each once.
std::expected<std::uint64_t, std::string>
read_peer(int control, int output, const std::function<void(const datastream::FrameBatch&)>& take);
