// Input and output of the kernels that lower the peak of a placement.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

struct ImprovementOptions {
    std::span<const Coord> start;  // a valid placement
    Coord enough = 0;              // a peak that needs no lowering
    std::uint64_t seed = 0;
    bool falls = true;             // gluing alone: do the blocks fall as low as they can, or stay in their pieces?
    std::int64_t work = std::numeric_limits<std::int64_t>::max() / 4;  // in looks; each kernel says how many take about a microsecond
};

struct Improvement {
    std::vector<Coord> offsets;
    Coord peak = 0;
    std::int64_t work = 0;
    std::vector<Coord> parents;  // gluing alone, if blocks stay in their pieces
};

// Called every few milliseconds, with a better placement if there is one. Returns true to stop.
using ImprovementReport = std::function<bool(const std::vector<Coord>* better)>;

}  // namespace memplan
