#pragma once
/// The process's memory: how the allocator behaves, and how much is resident.

#include <cstddef>

namespace bench {

/// Keeps glibc from giving memory back to the system between runs. That is kinder to the
/// references: their many small blocks would be returned and faulted in again at every drain, at
/// eight times the cost. Called once, before anything is measured.
void keep_freed_memory();

/// Bytes of this process that are in memory now.
std::size_t resident_bytes();

} // namespace bench
