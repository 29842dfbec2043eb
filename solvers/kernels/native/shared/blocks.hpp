// The blocks of one pool as the greedy passes read them: the solid rects of each block side by side, and which blocks never meet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/input.hpp"
#include "shared/large.hpp"

namespace memplan {

using Index = std::uint32_t;

inline constexpr Index kNone = UINT32_MAX;

// A range of addresses.
struct Interval {
    Coord low = 0, high = 0;
};

// A range of addresses that is occupied for a range of time. For an unplaced block, addresses count from its base.
struct Rect {
    Coord low = 0, high = 0;
    Index start = 0, end = 0;
    Index part = 0;
};

// A list of numbers for each key, all in one array.
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
    // True if the rect's part must be known, because some part may share its addresses.
    bool is_told_apart(const Rect& rect) const { return !friends.of(rect.part).empty(); }

    SearchInput input;
    Index count = 0;
    Large<Rect> rects;               // rects of non-empty parts, by block
    std::vector<Index> first_rect;   // count + 1
    std::vector<Coord> high;         // the end of each block, counted from its base
    std::vector<Index> component;    // blocks of different components cannot meet
    Index components = 0;
    std::vector<Interval> walls;     // the reserved ranges, by address
    Lists solid_parts;               // by block; only with walls or conflicts
    Lists foes;                      // by part: parts that it must not overlap at any time
    Lists friends;                   // by part: parts that may share its addresses, ascending
};

}  // namespace memplan
