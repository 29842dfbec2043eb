// Where a block may start, and how much room a clique has, given alignment, obstacles and reserved ranges.
#pragma once

#include "search/building/model.hpp"

namespace memplan {

inline Coord align_up(const Model& model, int block, Coord x) {
    const Coord modulus = model.modulus[block];
    if (modulus == 1) return x;
    const Coord over = (((x - model.residue[block]) % modulus) + modulus) % modulus;
    return over == 0 ? x : x + (modulus - over);
}

inline Coord align_down(const Model& model, int block, Coord x) {
    const Coord modulus = model.modulus[block];
    return x - (((x - model.residue[block]) % modulus) + modulus) % modulus;
}

// The least aligned start from x on that avoids all obstacles.
inline Coord next_start(const Model& model, int block, Coord x) {
    x = align_up(model, block, x);
    for (int i = model.stops.begin(block); i < model.stops.end(block); ++i) {
        const Range stop = model.stops.values[i];
        if (x < stop.from) break;
        if (x < stop.to) x = align_up(model, block, stop.to);
    }
    return x;
}

// The greatest address from which `need` units of a clique up to `top` are free of obstacles.
inline Coord reach_below(const Model& model, int clique, Coord top, Coord need) {
    if (need == 0) return top;  // parts of less than a unit may round to nothing and can lie right above an obstacle
    for (int i = model.obstacles.end(clique) - 1; i >= model.obstacles.begin(clique); --i) {
        const Range obstacle = model.obstacles.values[i];
        if (obstacle.from >= top) continue;
        if (obstacle.to < top) {
            if (top - obstacle.to >= need) break;
            need -= top - obstacle.to;
        }
        top = obstacle.from;
    }
    return top - need;
}

}  // namespace memplan
