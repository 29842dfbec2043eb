// From the decision "is there a placement of this height?" to the least height: which heights to ask for, how long, and with how many strategies in
// parallel.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "search/building/model.hpp"

namespace memplan {

struct DescentOptions {
    Coord bound = 0;                       // a known lower bound on the peak
    std::optional<Coord> incumbent;        // peak of the best placement known
    bool fit = false;                      // stop at the first placement found
    std::uint64_t seed = 0;
    int threads = 1;
    const std::int64_t* active_threads = nullptr;  // number of threads that work now; others may write it; null: all
    bool log = false;                      // record the attempts
    std::int64_t work = std::numeric_limits<std::int64_t>::max() / 4;  // in the engine's units; kWorkPerMicrosecond of them take about a microsecond
};

inline constexpr std::int64_t kWorkPerMicrosecond = 512;

enum class End { kProved, kFits, kImpossible, kWork, kStopped };

// What one strategy did in one round.
struct Tried {
    int strategy;
    bool settled;  // the round
    std::int64_t work;
};

struct DescentResult {
    End end = End::kWork;
    std::optional<Coord> peak;    // of the placement found, if it is better than the incumbent
    std::vector<Coord> offsets;   // by input block
    Coord bound = 0;
    std::int64_t nodes = 0, work = 0;
    std::vector<Tried> attempts;  // with `log`: in the order of a single thread
};

// Called on the calling thread, every few milliseconds and at every better placement or bound. Returns true to stop.
using Report = std::function<bool(const DescentResult&, bool better)>;

DescentResult descend(const Model& model, const DescentOptions& options, const Report& report);

}  // namespace memplan
