// How much a gap hurts in each section: to begin with where memory is full, later on where no layout had room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "search_input.hpp"
#include "search_random.hpp"

namespace memplan {

class BeamWeights {
public:
    BeamWeights(Coord sections, std::uint64_t seed) : random_(seed), full_(static_cast<std::size_t>(sections)), until_(full_.size() + 1) {}

    void measure(const std::vector<Coord>& begin, const std::vector<Coord>& end, const std::vector<Coord>& size) {
        std::vector<Coord> load(full_.size() + 1, 0);
        for (std::size_t block = 0; block < size.size(); ++block) {
            load[static_cast<std::size_t>(begin[block])] += size[block], load[static_cast<std::size_t>(end[block])] -= size[block];
        }
        std::partial_sum(load.begin(), load.end(), load.begin());
        const Coord most = std::max<Coord>(1, *std::max_element(load.begin(), load.end()));
        for (std::size_t section = 0; section < full_.size(); ++section) {
            const Coord full = most >= kFullest ? load[section] / (most / kFullest) : load[section] * kFullest / most;
            full_[section] = 16 + (full * full * full * full >> 12);
        }
        forget();
    }

    void forget() { weight_ = full_; }

    // With a little noise, so that another sweep, or another seed, goes another way.
    void draw() {
        for (std::size_t section = 0; section < weight_.size(); ++section) {
            const Coord weight = weight_[section];
            until_[section + 1] = until_[section] + weight + static_cast<Coord>(random_.next() % static_cast<std::uint64_t>(weight / kNoise + 1));
        }
    }

    // Of the sections from the first up to, but not including, the last, as they were last drawn.
    Coord between(Coord first, Coord last) const { return until_[static_cast<std::size_t>(last)] - until_[static_cast<std::size_t>(first)]; }

    void learn(Coord section) {
        const Coord most = *std::max_element(weight_.begin(), weight_.end());
        weight_[static_cast<std::size_t>(section)] += most / 2;
        if (most <= kMostWeight) return;
        for (Coord& weight : weight_) weight = (weight >> 8) + 1;
    }

private:
    // The same numbers stand in solvers/beam/reference.py.
    static constexpr Coord kFullest = 64;  // steps in which sections are told apart by how full they are
    static constexpr Coord kMostWeight = Coord{1} << 28;
    static constexpr Coord kNoise = 8;  // a weight differs from sweep to sweep by up to this part of it

    Random random_;
    std::vector<Coord> full_, weight_, until_;  // of each section, before and after learning; and of all before it
};

}  // namespace memplan
