// Who lives when: the rects of all blocks, placed or not, by the class of their length and then by when they begin.
#pragma once

#include <algorithm>
#include <vector>

#include "shared/blocks.hpp"

namespace memplan {

// A rect and whose it is; its addresses count from the block's base.
struct Living {
    Index start = 0, end = 0;
    Index block = 0, part = 0;
    Coord low = 0, high = 0;
};

// Nothing moves in it once it is built: blocks come and go too often for that.
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
    // Rects of which none is more than twice as long as another: hardly more are looked at than live at the time.
    struct Level {
        Index longest = 0;
        std::ptrdiff_t first = 0, end = 0;
    };
    std::vector<Level> levels_;
    std::vector<Living> items_;
};

}  // namespace memplan
