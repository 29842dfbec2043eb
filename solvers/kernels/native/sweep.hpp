// The largest sum of weights that are live together: the bound that most plans meet.
#pragma once

#include <cstdint>
#include <optional>

#include "column.hpp"

namespace memplan {

struct MaxLive {
    std::int64_t sum = 0;
    std::optional<std::int64_t> section;  // the first with that sum; none if there is no section at all
};

// Weight i counts in the sections starts[i] <= s < ends[i]. Takes O(n + sections) time and sections + 1 words of memory.
// Demanded and checked: 0 <= start <= end <= sections, weights not negative, their total below 2^62 (so no sum overflows).
MaxLive max_live(Column starts, Column ends, Column weights, std::int64_t sections);

}  // namespace memplan
