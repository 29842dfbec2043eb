// Input and output of the kernels that improve a placement, and when they report.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

struct ImprovementOptions {
    std::span<const Coord> start;  // a valid placement
    Coord enough = 0;              // a peak that needs no lowering
    std::uint64_t seed = 0;
    bool falls = true;             // gluing alone: do the blocks fall as low as they can, or stay in their pieces?
    std::int64_t work = std::numeric_limits<std::int64_t>::max() / 4;  // in looks; each kernel says how many take about a microsecond
};

struct Improvement {
    std::vector<Coord> offsets;
    Coord peak = 0;
    std::int64_t work = 0;
    std::vector<Coord> parents;  // gluing alone, if blocks stay in their pieces
};

// Called every few milliseconds, with a better placement if there is one. Returns true to stop.
using ImprovementReport = std::function<bool(const std::vector<Coord>* better)>;

// When it is time to report: every few milliseconds, and the clock is seldom looked at.
class Breath {
public:
    // `work` is what was done so far, in looks.
    bool is_due(std::int64_t work) {
        if (work - looked_ < kLooksBetween) return false;
        looked_ = work;
        return is_over();
    }

    // The same for callers who come here seldom.
    bool is_over() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < kLength) return false;
        last_ = now;
        return true;
    }

private:
    static constexpr std::int64_t kLooksBetween = 10'000;
    static constexpr std::chrono::milliseconds kLength{3};

    std::int64_t looked_ = 0;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace memplan
