// Covers of a row, lifted (see solvers/kernels/python/lifting.py).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

// (place in the row, votes)
using Votes = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::vector<Votes> lifted_covers(const std::vector<Coord>& units, const std::vector<double>& shares, Coord room);

}  // namespace memplan
