// Which bases of a block others close, wherever they are themselves: those that live at the same time, and those in conflict with it.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "shared/calendar.hpp"
#include "shared/places.hpp"
#include "shared/blocks.hpp"

namespace memplan {

class Around {
public:
    explicit Around(const Blocks& blocks) : blocks_(blocks), calendar_(blocks), repeats_(!blocks.foes.empty()) {
        for (Index block = 0; block < blocks.count; ++block) repeats_ = repeats_ || blocks.rects_of(block).size() > 1;
    }

    // Calls close(other, low, high) for each of them: from its own base on, bases strictly between low and high are closed.
    template <typename Close>
    void each(Index block, Close close) const {
        for (const Rect& own : blocks_.rects_of(block)) {
            const auto friends = blocks_.friends.of(own.part);
            calendar_.near(own.start, own.end, [&](const Living& other) {
                if (!friends.empty() && std::binary_search(friends.begin(), friends.end(), other.part)) return;
                close(other.block, other.low - own.high, other.high - own.low);
            });
        }
        if (blocks_.foes.empty()) return;
        const SearchInput& input = blocks_.input;
        for (const Index part : blocks_.solid_parts.of(block)) {
            for (const Index foe : blocks_.foes.of(part)) {
                close(static_cast<Index>(input.part_block[foe]), input.part_low[foe] - input.part_high[part], input.part_high[foe] - input.part_low[part]);
            }
        }
    }

    // Parts may meet several times but count once.
    void without_repeats(std::vector<Closed>& closed) const {
        if (!repeats_) return;
        const auto key = [](const Closed& one) { return std::tuple(one.block, one.low, one.high); };
        std::sort(closed.begin(), closed.end(), [&](const Closed& a, const Closed& b) { return key(a) < key(b); });
        closed.erase(std::unique(closed.begin(), closed.end(), [&](const Closed& a, const Closed& b) { return key(a) == key(b); }), closed.end());
    }

private:
    const Blocks& blocks_;
    const LifeCalendar calendar_;
    bool repeats_;  // true if two parts may meet in more than one way
};

}  // namespace memplan
