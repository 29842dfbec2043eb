// For each block the sizes of what begins during its life and outlasts it: room for one of these is best left beside it from the start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

// The same numbers stand in solvers/kernels/python/beam.py.
inline constexpr std::size_t kMostLater = 6;    // different sizes, of those that begin first
inline constexpr std::size_t kLookAhead = 64;  // blocks

// The order is that of beginning.
inline std::vector<std::vector<Coord>> later_sizes(
    const std::vector<std::uint32_t>& order, const std::vector<Coord>& begin, const std::vector<Coord>& end, const std::vector<Coord>& size) {
    std::vector<std::vector<Coord>> later(order.size());
    for (std::size_t turn = 0; turn < order.size(); ++turn) {
        const std::uint32_t block = order[turn];
        std::vector<Coord>& sizes = later[block];
        const std::size_t last = std::min(order.size(), turn + 1 + kLookAhead);
        for (std::size_t i = turn + 1; i < last && sizes.size() < kMostLater && begin[order[i]] < end[block]; ++i) {
            const std::uint32_t other = order[i];
            if (end[other] > end[block] && std::find(sizes.begin(), sizes.end(), size[other]) == sizes.end()) sizes.push_back(size[other]);
        }
    }
    return later;
}

}  // namespace memplan
