// Placed rects by time: each is in one bucket, chosen by its length and start, and a bucket is sorted by address.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "shared/blocks.hpp"

namespace memplan {

inline void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    static_cast<void>(address);
#endif
}

class CalendarLayout {
public:
    // Holds the rects for which `takes` is true.
    CalendarLayout(const Blocks& blocks, const std::function<bool(const Rect&)>& takes);

    struct Level {
        Index longest = 0;       // of the level's rects
        Index shift = 0;         // a bucket is 2^shift sections long
        Index first_bucket = 0;  // number of its first bucket among all
    };

    Index bucket_of(const Rect& rect) const {
        const Level& level = levels[level_of_length_[class_of(rect.end - rect.start)]];
        return level.first_bucket + (rect.start >> level.shift);
    }

    std::vector<Level> levels;
    Large<Index> first_slot;  // by bucket, with one more at the end

private:
    // Lengths up to 4^c belong to class c.
    static Index class_of(Index length) { return (static_cast<Index>(std::bit_width(length - 1)) + 1) / 2; }

    std::vector<Index> level_of_length_;
};

// A rect whose addresses are below 2^32: half as much memory to read.
struct Narrow {
    std::uint32_t low = 0, high = 0;
    Index start = 0, end = 0;
};

class Calendar {
public:
    // With `has_parts`, queries can ask for the part of each rect.
    Calendar(const CalendarLayout& layout, bool has_parts);

    void clear();
    void place(const Rect& rect);
    // The number of rects that fit.
    std::size_t room() const { return layout_->first_slot.back(); }
    // Calls visit(rects) with ranges of rects, Rect or Narrow, sorted by address. Together they contain all rects live in [start, end).
    template <typename Visit>
    void near(Index start, Index end, Visit visit) const {
        if (is_narrow_) near_in(narrow_, start, end, visit);
        else near_in(rects_, start, end, visit);
    }
    // As near, with parts.
    template <typename Visit>
    void near_parts(Index start, Index end, Visit visit) const { near_in(rects_, start, end, visit); }

    void fetch(Index start, Index end) const {
        if (is_narrow_) fetch_in(narrow_, start, end);
        else fetch_in(rects_, start, end);
    }

private:
    template <typename Each, typename Visit>
    void near_in(const Large<Each>& rects, Index start, Index end, Visit visit) const {
        for (const CalendarLayout::Level& level : layout_->levels) {
            const Index earliest = start >= level.longest ? start - level.longest + 1 : 0;
            const Index last = level.first_bucket + ((end - 1) >> level.shift);
            for (Index bucket = level.first_bucket + (earliest >> level.shift); bucket <= last; ++bucket) {
                if (used_[bucket] == 0) continue;
                visit(std::span<const Each>(rects.data() + layout_->first_slot[bucket], used_[bucket]));
            }
        }
    }
    template <typename Each>
    void fetch_in(const Large<Each>& rects, Index start, Index end) const {
        for (const CalendarLayout::Level& level : layout_->levels) {
            const Index earliest = start >= level.longest ? start - level.longest + 1 : 0;
            const Index last = level.first_bucket + ((end - 1) >> level.shift);
            Index bucket = level.first_bucket + (earliest >> level.shift);
            for (Index most = std::min(last, bucket + 3); bucket <= most; ++bucket) {
                const char* line = reinterpret_cast<const char*>(rects.data() + layout_->first_slot[bucket]);
                for (std::size_t at = 0; at < used_[bucket] * sizeof(Each); at += 64) prefetch(line + at);
            }
        }
    }

    void widen();

    const CalendarLayout* layout_;
    Large<Index> used_;  // by bucket: number of used slots
    bool is_narrow_;
    Large<Narrow> narrow_;
    Large<Rect> rects_;  // if they are not narrow
};

}  // namespace memplan
