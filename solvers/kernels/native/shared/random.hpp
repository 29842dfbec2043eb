// SplitMix64, so that both sets of kernels draw the same numbers; solvers/model/splitmix.py is the same in Python.
#pragma once

#include <cstdint>

namespace memplan {

inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

// A one-to-one hash of 64 bits.
inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

// A stream of random numbers.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() { return mix(state_ += kGolden); }

  private:
    std::uint64_t state_;
};

}  // namespace memplan
