// Passes on several threads, each of one order and one fit. The best placement of each component is kept; the answer does not depend on the threads.
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
    std::vector<GreedyPass> passes;  // at least one; of equals the earlier wins
    Coord enough = -1;               // a component that ends no higher needs no improvement; -1: none does
    int threads = 1;
    std::span<const Coord> start;    // a known placement, or empty
};

struct GreedyResult {
    bool complete = false;           // true if every component is placed
    std::vector<Coord> offsets;
};

// Called on the calling thread, every few milliseconds, with a better placement if there is one; it may take the vector. Returns true to stop.
using GreedyReport = std::function<bool(std::vector<Coord>* offsets)>;

GreedyResult greedy(const SearchInput& input, const GreedyOptions& options, const GreedyReport& report);

}  // namespace memplan
