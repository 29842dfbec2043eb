// The beam's data: layouts of the blocks live at one moment, the steps that led to them, the candidates for the next step, and for each block the
// sizes of blocks that begin during its life and outlast it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "shared/input.hpp"
#include "shared/random.hpp"

namespace memplan {

inline std::uint64_t name_of_place(std::uint32_t block, Coord base) {
    return Random(static_cast<std::uint64_t>(block) * kGolden ^ static_cast<std::uint64_t>(base)).next();
}

struct BeamLayout {
    std::vector<std::uint32_t> live;  // by address
    std::vector<Coord> base;
    Coord worth = 0;         // sum over all contacts
    std::uint64_t name = 0;  // a hash; equal layouts have equal names
    std::int64_t step = -1;  // the last step that led here
};

struct BeamStep {
    std::int64_t before;
    Coord base;
};

struct BeamCandidate {
    Coord worth;
    std::size_t layout, gap;
    Coord base;
    bool operator<(const BeamCandidate& other) const {
        return std::tuple(-worth, layout, base, gap) < std::tuple(-other.worth, other.layout, other.base, other.gap);
    }
};

// The same numbers stand in solvers/kernels/python/beam.py.
inline constexpr std::size_t kMostLater = 6;    // most different sizes, of the blocks that begin first
inline constexpr std::size_t kLookAhead = 64;  // blocks

// Leaving exactly the room of one of these beside the block is worth trying. Sizes are in the order in which their blocks begin.
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
