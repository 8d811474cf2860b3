#pragma once
/// What `submit` answered somebody.

#include <cstdint>

struct Tally {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;

  void count(bool answer) { ++(answer ? accepted : refused); }
  Tally& operator+=(const Tally& other) {
    accepted += other.accepted;
    refused += other.refused;
    return *this;
  }
};
