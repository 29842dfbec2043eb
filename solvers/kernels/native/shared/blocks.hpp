// The blocks of one pool as the greedy passes read them: the solid rects of each block side by side, and who never meets whom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/input.hpp"
#include "shared/large.hpp"

namespace memplan {

using Index = std::uint32_t;

inline constexpr Index kNone = UINT32_MAX;

// A stretch of addresses.
struct Interval {
    Coord low = 0, high = 0;
};

// A stretch of addresses that is taken for a stretch of time. Of an unplaced block the addresses count from its base.
struct Rect {
    Coord low = 0, high = 0;
    Index start = 0, end = 0;
    Index part = 0;
};

// For each key a few numbers, all in one array.
struct Lists {
    std::vector<Index> first, items;

    bool empty() const { return items.empty(); }
    std::span<const Index> of(Index key) const {
        return empty() ? std::span<const Index>{} : std::span(items).subspan(first[key], first[key + 1] - first[key]);
    }
};

struct Blocks {
    explicit Blocks(const SearchInput& input);

    std::span<const Rect> rects_of(Index block) const {
        return std::span(rects).subspan(first_rect[block], first_rect[block + 1] - first_rect[block]);
    }
    bool is_fixed(std::size_t block) const { return input.lowest[block] == input.highest[block]; }
    // Must it be known which part a rect belongs to, because some may share its addresses?
    bool is_told_apart(const Rect& rect) const { return !friends.of(rect.part).empty(); }

    SearchInput input;
    Index count = 0;
    Large<Rect> rects;               // those of parts that are not empty, by block
    std::vector<Index> first_rect;   // count + 1
    std::vector<Coord> high;         // where each block ends, counted from its base
    std::vector<Index> component;    // blocks of different components cannot meet
    Index components = 0;
    std::vector<Interval> walls;     // the reserved ranges, by address
    Lists solid_parts;               // of each block; only if there are walls or conflicts
    Lists foes;                      // of each part: those it must not meet, whenever they are live
    Lists friends;                   // of each part: those that may share its addresses, ascending
};

}  // namespace memplan
