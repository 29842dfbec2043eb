// Covers of a row, lifted (see solvers/kernels/python/lifting.py).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

struct Cover {
    std::vector<std::pair<std::int64_t, std::int64_t>> votes;  // (place in the row, votes)
    std::vector<Coord> least;                                  // units of members that have one vote together, two, and so on up to all
};

std::vector<Cover> lifted_covers(const std::vector<Coord>& units, const std::vector<double>& shares, Coord room);

}  // namespace memplan
