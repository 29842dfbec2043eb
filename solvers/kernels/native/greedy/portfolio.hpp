// Passes on several threads, each of one order and one fit; of each component the best placement is kept. The answer does not depend on the threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "greedy/pass.hpp"

namespace memplan {

struct GreedyPass {
    std::size_t order = 0;  // as Orders numbers them
    Fit fit = Fit::kLowest;
};

struct GreedyOptions {
    std::vector<GreedyPass> passes;  // at least one; among equals the earlier one wins
    Coord enough = -1;               // a component that ends no higher is good as it is; every one ends above -1
    int threads = 1;
    std::span<const Coord> start;    // a placement known before, or nothing
};

struct GreedyResult {
    bool complete = false;           // is every component placed?
    std::vector<Coord> offsets;
};

// Called from the calling thread alone, every few milliseconds, with a better placement if there is one, which it may keep. True: stop.
using GreedyReport = std::function<bool(std::vector<Coord>* offsets)>;

GreedyResult greedy(const SearchInput& input, const GreedyOptions& options, const GreedyReport& report);

}  // namespace memplan
