// What the beam keeps: layouts of what is live at one moment, the steps that led to them, and the candidates for the next step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "shared/input.hpp"
#include "shared/random.hpp"

namespace memplan {

inline std::uint64_t name_of_place(std::uint32_t block, Coord base) {
    return Random(static_cast<std::uint64_t>(block) * 0x9E3779B97F4A7C15ULL ^ static_cast<std::uint64_t>(base)).next();
}

struct BeamLayout {
    std::vector<std::uint32_t> live;  // by address
    std::vector<Coord> base;
    Coord worth = 0;         // of all contacts
    std::uint64_t name = 0;  // equal layouts have equal names
    std::int64_t step = -1;  // the last of the steps that led here
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

}  // namespace memplan
