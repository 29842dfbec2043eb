// Every order with every fit, on several threads; of each component the best placement is kept. The answer does not depend on the threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

struct GreedyOptions {
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
