// Lowers the peak of a placement of plain blocks by sweeping through time with a beam: at every step the next block is put into every gap of
// every layout that is kept, also where it leaves just the room that a later block will need, and the layouts that promise the fewest gaps later
// on are kept. Good where much of what is live lives long and
// the rest comes and goes beside it, as in recurrent networks.
#pragma once

#include "shared/improvement.hpp"

namespace memplan {

inline constexpr std::int64_t kBeamLooksPerMicrosecond = 600;  // at a block of a layout

// Does it take the instance: one rect a block, nothing fixed or reserved, no pairs?
bool beam_takes(const SearchInput& input);

// No worse than the start, whenever it ends: at a peak that is low enough, with the work done, stopped, or because it gets nowhere.
Improvement sweep_with_beam(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report);

}  // namespace memplan
