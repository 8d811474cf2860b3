#pragma once
/// What is set for the whole process before anything is measured, for all sides alike.

#include <cstddef>

namespace bench {

/// Keeps glibc from giving memory back to the system between runs. That is kinder to the
/// references: their many small blocks would be returned and faulted in again at every drain, at
/// eight times the cost.
void keep_freed_memory();

/// Tells the runtime libraries that this is a program with threads, as every program with
/// telemetry is. Until a second thread has existed, glibc's mutexes and malloc and libstdc++'s
/// `shared_ptr` skip their atomic operations, and a one-thread measure would depend on which row
/// ran before it.
void become_threaded();

/// Bytes of this process that are in memory now.
std::size_t resident_bytes();

/// Bytes that are allocated from the heap now, by all threads. A few small blocks may be missing
/// from a difference of two such numbers: glibc counts those that it keeps at hand for a thread.
std::size_t heap_bytes();

} // namespace bench
