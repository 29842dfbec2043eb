// Sweeps over time: the largest sum of weights that are live together (the bound that most plans meet), and whether a placement has overlaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace memplan {

// A column of 64-bit integers that belongs to the caller, usually a numpy array; it is not copied.
struct Column {
    const std::int64_t* data = nullptr;
    std::size_t size = 0;
    std::int64_t stride = 1;  // in items, not bytes: a slice of a matrix is a column too

    std::int64_t operator[](std::size_t i) const { return data[static_cast<std::ptrdiff_t>(i) * stride]; }
};

struct MaxLive {
    std::int64_t sum = 0;
    std::optional<std::int64_t> section;  // the first with that sum; none without sections
};

// Weight i counts in the sections starts[i] <= s < ends[i]. Takes O(n + sections) time and sections + 1 words of memory. Checks that 0 <= start <=
// end <= sections, weights are not negative, and their total is below 2^62 (so no sum overflows).
MaxLive max_live(Column starts, Column ends, Column weights, std::int64_t sections);

// Rect i covers the addresses lows[i] <= a < highs[i] of a pool in the times starts[i] <= t < ends[i]; an empty one covers nothing. True if no two
// rects of a pool cover the same address at the same time. Takes O(n log n) time and some 60 bytes a rect. Throws if there are 2^32 rects or more.
bool apart(Column starts, Column ends, Column pools, Column lows, Column highs);

}  // namespace memplan
