#pragma once

#include <cstddef>

namespace bench {

void print_head_of_small_blocks();

/// An archive of which each block is a group of so few frames, all of one stream: what its index
/// costs a reader. Prints one line: opening a reader; a stream, the first time and when its indexes
/// are known; memory of the stream; frames at random and all of them by position, and what the
/// stream and the walk hold meanwhile.
void measure_small_blocks(std::size_t blocks, std::size_t frames_in_block);

} // namespace bench
