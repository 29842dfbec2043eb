// Lowers the peak of a placement that is good already: what ends too high is put elsewhere, throwing out what stands there if it must,
// which is then put elsewhere in its turn. All else stays where it is.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "search_input.hpp"

namespace memplan {

struct EjectionOptions {
    std::span<const Coord> start;  // a placement that keeps all rules
    Coord enough = 0;              // a peak that needs no lowering
    std::uint64_t seed = 0;
    std::int64_t work = std::numeric_limits<std::int64_t>::max() / 4;  // in looks at a neighbour; kLooksPerMicrosecond of them take about one
};

inline constexpr std::int64_t kLooksPerMicrosecond = 24;

struct EjectionResult {
    std::vector<Coord> offsets;
    Coord peak = 0;
    std::int64_t work = 0;
};

// Called every few milliseconds, with a better placement if there is one. Returns true to stop.
using EjectionReport = std::function<bool(const std::vector<Coord>* better)>;

// No worse than the start, whenever it ends: at a peak that is low enough, with the work done, stopped, or because it gets nowhere.
EjectionResult improve(const SearchInput& input, const EjectionOptions& options, const EjectionReport& report);

}  // namespace memplan
