// The lifetimes of all blocks' rects, placed or not, by the class of their length and then by start.
#pragma once

#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "shared/blocks.hpp"

namespace memplan {

// A rect and its block; addresses count from the block's base.
struct Living {
    Index start = 0, end = 0;
    Index block = 0, part = 0;
    Coord low = 0, high = 0;
};

// It never changes once built: blocks move too often.
class LifeCalendar {
public:
    explicit LifeCalendar(const Blocks& blocks);

    // Calls visit(living) for every rect that lives at some time in [start, end).
    template <typename Visit>
    void near(Index start, Index end, Visit visit) const {
        const auto begins_before = [](const Living& living, Index time) { return living.start < time; };
        for (const Level& level : levels_) {
            const Index earliest = start >= level.longest ? start - level.longest + 1 : 0;
            const auto from = items_.begin() + level.first, to = items_.begin() + level.end;
            for (auto at = std::lower_bound(from, to, earliest, begins_before); at != to && at->start < end; ++at) {
                if (at->end > start) visit(*at);
            }
        }
    }

private:
    // Rects of similar length, at most twice as long as each other: few more are examined than are live at the time.
    struct Level {
        Index longest = 0;
        std::ptrdiff_t first = 0, end = 0;
    };
    std::vector<Level> levels_;
    std::vector<Living> items_;
};

inline LifeCalendar::LifeCalendar(const Blocks& blocks) {
    const auto class_of = [](const Living& living) { return std::bit_width(living.end - living.start - 1); };
    items_.reserve(blocks.rects.size());
    for (Index block = 0; block < blocks.count; ++block) {
        for (const Rect& rect : blocks.rects_of(block)) items_.push_back({rect.start, rect.end, block, rect.part, rect.low, rect.high});
    }
    std::sort(items_.begin(), items_.end(), [&](const Living& a, const Living& b) {
        return std::tuple(class_of(a), a.start, a.block, a.part) < std::tuple(class_of(b), b.start, b.block, b.part);
    });
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const auto place = static_cast<std::ptrdiff_t>(i);
        if (i == 0 || class_of(items_[i]) != class_of(items_[i - 1])) levels_.push_back({0, place, place});
        levels_.back().longest = std::max(levels_.back().longest, items_[i].end - items_[i].start);
        levels_.back().end = place + 1;
    }
}

}  // namespace memplan
