// Lowers the peak of a placement of plain blocks by a beam search that sweeps through time, and the other way after a sweep that failed. Each step tries
// the next block in every gap of every kept layout, also where it leaves exactly the room of a later block, and keeps the layouts that promise the fewest
// gaps. It is good where many live blocks live long and others come and go beside them, as in recurrent networks.
#pragma once

#include "shared/improvement.hpp"

namespace memplan {

inline constexpr std::int64_t kBeamLooksPerMicrosecond = 600;  // visits of a block of a layout

// True if each block is one rect that begins at its base, none is fixed, and there are no pairs or reserved ranges.
bool beam_takes(const SearchInput& input);

// Never worse than the start. Ends at a peak of `enough`, with the work done, when stopped, or when it makes no progress.
Improvement sweep_with_beam(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report);

}  // namespace memplan
