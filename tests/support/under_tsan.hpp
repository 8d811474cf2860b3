#pragma once
/// Is this built for ThreadSanitizer? Some tests cannot be: it follows no fibers, and its runtime
/// insists on its own `operator new`.

#if defined(__SANITIZE_THREAD__)
#define DATASTREAM_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DATASTREAM_UNDER_TSAN 1
#endif
#endif
#ifndef DATASTREAM_UNDER_TSAN
#define DATASTREAM_UNDER_TSAN 0
#endif
