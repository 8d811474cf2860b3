#pragma once

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace datastream::test {

/// This process gets no descriptors while it lives.
class NoDescriptors {
public:
  NoDescriptors() {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const int lowest = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); // that is free
    REQUIRE(lowest >= 0);
    close(lowest);
    const rlimit none{static_cast<rlim_t>(lowest), before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

private:
  rlimit before_{};
};

} // namespace datastream::test
