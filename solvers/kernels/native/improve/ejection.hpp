// Lowers the peak of a placement by ejection: a block that ends too high is put elsewhere and may throw out the blocks there, which are put elsewhere
// in turn. All others stay.
#pragma once

#include "shared/improvement.hpp"

namespace memplan {

inline constexpr std::int64_t kLooksPerMicrosecond = 24;  // visits of a neighbour

// Never worse than the start. Ends at a peak of `enough`, with the work done, when stopped, or when it makes no progress.
Improvement improve(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report);

}  // namespace memplan
