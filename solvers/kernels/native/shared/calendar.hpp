// The lifetimes of all blocks' rects, placed or not, by the class of their length and then by start.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "shared/blocks.hpp"
#include "shared/radix_sort.hpp"

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
        for (const Level& level : levels_) {
            const Index earliest = start >= level.longest ? start - level.longest + 1 : 0;
            // The bucket also has some that begin before the earliest: they have ended.
            for (Index at = first_[level.first_bucket + (earliest >> level.shift)]; at != level.end && items_[at].start < end; ++at) {
                if (items_[at].end > start) visit(items_[at]);
            }
        }
    }

private:
    // Rects of similar length, at most twice as long as each other: few more are examined than are live at the time.
    struct Level {
        Index longest = 0;
        Index end = 0;           // of its items
        Index shift = 0;         // a bucket is 2^shift sections long
        Index first_bucket = 0;  // number of its first bucket among all
    };
    void add_level(Index first, Index end, std::uint64_t sections);

    std::vector<Level> levels_;
    std::vector<Living> items_;  // by level, then by start
    std::vector<Index> first_;   // by bucket: the first item that begins in it or later
};

inline LifeCalendar::LifeCalendar(const Blocks& blocks) {
    const auto class_of = [](const Living& living) { return static_cast<std::uint64_t>(std::bit_width(living.end - living.start - 1)); };
    std::vector<Living> unsorted;
    unsorted.reserve(blocks.rects.size());
    for (Index block = 0; block < blocks.count; ++block) {
        for (const Rect& rect : blocks.rects_of(block)) unsorted.push_back({rect.start, rect.end, block, rect.part, rect.low, rect.high});
    }
    std::vector<Keyed> keys(unsorted.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {class_of(unsorted[i]) << 32 | unsorted[i].start, static_cast<Index>(i)};
    radix_sort(keys);
    items_.reserve(keys.size());
    for (const Keyed& key : keys) items_.push_back(unsorted[key.item]);
    const auto count = static_cast<Index>(items_.size());
    for (Index first = 0, end = 0; first < count; first = end) {
        while (end < count && class_of(items_[end]) == class_of(items_[first])) ++end;
        add_level(first, end, static_cast<std::uint64_t>(blocks.input.sections));
    }
}

inline void LifeCalendar::add_level(Index first, Index end, std::uint64_t sections) {
    Level level{0, end, 0, static_cast<Index>(first_.size())};
    for (Index i = first; i < end; ++i) level.longest = std::max(level.longest, items_[i].end - items_[i].start);
    // One item in a bucket on average, or more.
    while ((std::uint64_t{end - first} << level.shift) < sections) ++level.shift;
    Index at = first;
    for (std::uint64_t begin = 0; begin < sections; begin += std::uint64_t{1} << level.shift) {
        while (at < end && items_[at].start < begin) ++at;
        first_.push_back(at);
    }
    levels_.push_back(level);
}

}  // namespace memplan
