// Packs by gluing: pieces are joined, on top of each other or one after the other, until one is left, which is the plan.
#pragma once

#include "shared/improvement.hpp"

namespace memplan {

inline constexpr std::int64_t kGluingLooksPerMicrosecond = 500;

// Of what the beam takes: plain blocks of one rect, without pairs or reserved ranges. Alignments that differ are seen to at the end, when all falls.
// No worse than the start, whenever it ends.
Improvement glue_together(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report);

}  // namespace memplan
