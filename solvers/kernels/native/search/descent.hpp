// From "is there a placement of this height?" to the least height: which heights to ask for, how long, and with how many strategies side by side.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "search/building/model.hpp"

namespace memplan {

struct DescentOptions {
    Coord bound = 0;                       // no placement ends lower
    std::optional<Coord> incumbent;        // peak of the best placement known
    bool fit = false;                      // stop at the first placement found
    std::uint64_t seed = 0;
    int threads = 1;
    const std::int64_t* active_threads = nullptr;  // how many of them work at the moment; others may write there. Null: all
    bool log = false;                      // of the attempts
    std::int64_t work = std::numeric_limits<std::int64_t>::max() / 4;  // in the engine's units; kWorkPerMicrosecond of them take about one
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
    std::optional<Coord> peak;    // of the placement found, if one better than the incumbent was
    std::vector<Coord> offsets;   // by input block
    Coord bound = 0;
    std::int64_t nodes = 0, work = 0;
    std::vector<Tried> attempts;  // if they are logged: in the order in which one thread makes them
};

// Called on the thread that called descend: every few milliseconds, and at every better placement or bound. Returns true to stop.
using Report = std::function<bool(const DescentResult&, bool better)>;

DescentResult descend(const Model& model, const DescentOptions& options, const Report& report);

}  // namespace memplan
