// Refuses arrays that would lead a kernel out of bounds or into overflow.
#pragma once

#include "shared/input.hpp"

namespace memplan {

inline void check_search_input(const SearchInput& input) {
    const auto demand = [](bool holds, const char* what) {
        if (!holds) throw BadInput(what);
    };
    constexpr std::size_t kMost = std::size_t{1} << 30;
    const std::size_t n = input.blocks(), k = input.parts(), m = input.rects();
    demand(n < kMost && k < kMost && m < kMost, "too many blocks, parts or rects");
    demand(input.residue.size() == n && input.lowest.size() == n && input.highest.size() == n, "one alignment and one range a block");
    demand(input.part_low.size() == k && input.part_high.size() == k, "one range a part");
    demand(input.rect_start.size() == m && input.rect_end.size() == m, "one interval a rect");
    demand(input.reserved.size() % 2 == 0, "reserved ranges come in pairs");
    demand(input.conflicts.size() % 2 == 0 && input.exclusions.size() % 2 == 0, "conflicts and exclusions are pairs");
    const auto address = [](Coord x) { return x >= 0 && x <= kAddressLimit; };
    Coord total = 0;
    for (std::size_t b = 0; b < n; ++b) {
        demand(input.modulus[b] >= 1 && input.modulus[b] <= kAddressLimit, "a modulus is positive");
        demand(input.residue[b] >= 0 && input.residue[b] < input.modulus[b], "a residue is below its modulus");
        demand(address(input.lowest[b]) && input.highest[b] >= -kAddressLimit && input.highest[b] <= kAddressLimit, "bounds are addresses");
        const bool free = input.lowest[b] < input.highest[b];
        demand(!free || input.lowest[b] % input.modulus[b] == input.residue[b], "a lowest base is aligned");
    }
    for (std::size_t p = 0; p < k; ++p) {
        demand(input.part_block[p] >= 0 && static_cast<std::size_t>(input.part_block[p]) < n, "a part belongs to a block");
        demand(address(input.part_low[p]) && address(input.part_high[p]) && input.part_low[p] <= input.part_high[p], "a part is a range of addresses");
        demand(!__builtin_add_overflow(total, input.part_high[p], &total) && total <= kAddressLimit, "the sizes add up to less than 2^62");
        const auto b = static_cast<std::size_t>(input.part_block[p]);
        demand(input.highest[b] + input.part_high[p] <= kAddressLimit, "all ends are addresses");
    }
    for (std::size_t r = 0; r < m; ++r) {
        demand(input.rect_part[r] >= 0 && static_cast<std::size_t>(input.rect_part[r]) < k, "a rect belongs to a part");
        demand(input.rect_start[r] >= 0 && input.rect_start[r] < input.rect_end[r] && input.rect_end[r] <= input.sections, "a rect is live for some sections");
    }
    for (std::size_t r = 0; r + 1 < input.reserved.size(); r += 2) {
        demand(address(input.reserved[r]) && address(input.reserved[r + 1]), "a reserved range is of addresses");
    }
    for (const auto& pairs : {input.conflicts, input.exclusions}) {
        for (const Coord p : pairs) demand(p >= 0 && static_cast<std::size_t>(p) < k, "a pair is of parts");
    }
}

}  // namespace memplan
