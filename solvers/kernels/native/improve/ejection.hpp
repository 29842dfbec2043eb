// Lowers the peak of a placement by ejection: what ends too high is put elsewhere, throwing out what stands there if it must, which is then put
// elsewhere in its turn. All else stays where it is.
#pragma once

#include "shared/improvement.hpp"

namespace memplan {

inline constexpr std::int64_t kLooksPerMicrosecond = 24;  // at a neighbour

// No worse than the start, whenever it ends: at a peak that is low enough, with the work done, stopped, or because it gets nowhere.
Improvement improve(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report);

}  // namespace memplan
