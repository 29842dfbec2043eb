// Packs by gluing: pieces are joined, one on top of the other or one after the other, until one is left: the placement.
#pragma once

#include "shared/improvement.hpp"

namespace memplan {

inline constexpr std::int64_t kGluingLooksPerMicrosecond = 350;

// Takes the instances that the beam takes: plain blocks of one rect, without pairs or reserved ranges. Different alignments are met at the end, when
// all blocks fall. Never worse than the start.
Improvement glue_together(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report);

}  // namespace memplan
