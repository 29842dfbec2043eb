// A smaller model in which blocks that belong together move as one: easier to find a placement of, if there is one.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "search/building/model.hpp"

namespace memplan {

struct Glued {
    Model model;
    Rows<std::pair<int, Coord>> members;  // by block of the model: blocks of the one that was glued, and where in it they begin

    // Where the blocks of the model that was glued lie, if those of this one lie there.
    std::vector<Coord> expand(const std::vector<Coord>& offsets) const;
};

// Plain models only. Blocks of the same lifetime are stacked, with `chains` also blocks of the same size strung together of which one begins where
// the other ends, over and over. What fits then fits apart; what does not may still. Nothing if there is nothing to glue.
std::optional<Glued> glue(const Model& model, bool chains);

}  // namespace memplan
