// A smaller model in which blocks that belong together move as one. A placement is easier to find there, if there is one.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "search/building/model.hpp"

namespace memplan {

struct Glued {
    Model model;
    Rows<std::pair<int, Coord>> members;  // by block of this model: blocks of the original model, and their distances above its base

    // The positions of the original model's blocks if this model's blocks lie at these offsets.
    std::vector<Coord> expand(const std::vector<Coord>& offsets) const;
};

// Plain models only. Stacks blocks of the same lifetime and, with `chains`, chains blocks of the same size where one begins as the other ends,
// repeatedly. A placement of the glued model is one of the original; the converse does not hold. None if there is nothing to glue.
std::optional<Glued> glue(const Model& model, bool chains);

}  // namespace memplan
