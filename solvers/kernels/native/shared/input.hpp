// A kernel's input, the blocks of one pool as plain arrays owned by the caller, and the exceptions that kernels throw.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace memplan {

using Coord = std::int64_t;

// All addresses are at most this, so that sums of two never overflow.
inline constexpr Coord kAddressLimit = Coord{1} << 62;

// Thrown if arguments break a kernel's contract; BadKernelInput in Python.
struct BadInput : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// Thrown if an instance is too large for the exact search; it has the same name in Python. The text says why.
struct TooLarge : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct SearchInput {
    Coord sections = 0;
    std::span<const Coord> part_block, part_low, part_high;
    std::span<const Coord> rect_part, rect_start, rect_end;
    std::span<const Coord> modulus, residue, lowest, highest;  // one entry per block
    std::span<const Coord> reserved;                           // (r, 2) half-open address ranges
    std::span<const Coord> conflicts;                          // (c, 2) pairs of parts
    std::span<const Coord> exclusions;                         // (e, 2) pairs of parts

    std::size_t blocks() const { return modulus.size(); }
    std::size_t parts() const { return part_block.size(); }
    std::size_t rects() const { return rect_part.size(); }
};

}  // namespace memplan
