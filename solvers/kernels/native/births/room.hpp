// The free ranges of a pool, by address.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

__extension__ using Wide = __int128;

// x satisfies it if x = residue (mod modulus). Both can exceed 64 bits where a pool's alignment is combined with a group's.
struct Rule {
    Wide modulus = 1, residue = 0;

    Wide at_least(Wide floor) const {
        const Wide beyond = (residue - floor) % modulus;
        return floor + (beyond < 0 ? beyond + modulus : beyond);
    }
};

// The room that a group needs.
struct Wish {
    Coord height = 0, most = 0;
    Rule rule;
};

class Room {
   public:
    struct Range {
        Coord begin, end;
    };

    Room(Coord end, std::span<const Coord> taken) {  // triples (pool, low, high), sorted and disjoint
        Coord here = 0;
        for (std::size_t i = 0; i + 2 < taken.size(); i += 3) {
            if (taken[i + 1] > here && end > here) free_.push_back({here, std::min(taken[i + 1], end)});
            here = std::max(here, taken[i + 2]);
        }
        if (here < end) free_.push_back({here, end});
        for (const Range& range : free_) widest = std::max(widest, range.end - range.begin);
        if (free_.size() <= kMostRanges) return;
        Coord most = 0;
        for (const Range& range : free_) {
            most = std::max(most, range.end - range.begin);
            most_up_to_.push_back(most), begin_at_first_.push_back(range.begin);
        }
    }

    Coord widest = 0;  // an upper bound on the width of the free ranges

    // The lowest base at which `height` addresses are free; -1 if there is none. Past kMostRanges ranges the last range is preferred.
    Coord base(const Wish& wish) {
        const std::optional<Coord> floor = least(wish.height);
        if (!floor) return -1;
        const std::size_t first = *floor ? at_or_before(*floor) : 0;
        Coord seen = 0;
        for (std::size_t at = first; at < free_.size(); ++at) {
            const Coord width = free_[at].end - free_[at].begin;
            seen = std::max(seen, width);
            if (width >= wish.height) {
                const Wide base = in_range(at, wish);
                if (base >= 0) return base <= wish.most ? static_cast<Coord>(base) : -1;
            }
            if (at == first + kMostRanges) {  // usually the last range is wide
                const Wide base = in_range(free_.size() - 1, wish);
                if (base >= 0 && base <= wish.most) return static_cast<Coord>(base);
            }
        }
        if (first == 0) widest = seen;
        return -1;
    }

    void take(Coord low, Coord high) {
        const std::size_t at = at_or_before(low);
        const auto [begin, end] = free_[at];
        const auto place = free_.begin() + static_cast<std::ptrdiff_t>(at);
        if (begin < low && high < end) {
            place->end = low;
            free_.insert(place + 1, {high, end});
        } else if (begin < low) {
            place->end = low;
        } else if (high < end) {
            place->begin = high;
        } else {
            free_.erase(place);
        }
    }

    void give_back(Coord low, Coord high) {
        auto place = std::partition_point(free_.begin(), free_.end(), [&](const Range& range) { return range.begin < low; });
        const bool joins_next = place != free_.end() && place->begin == high;
        const bool joins_last = place != free_.begin() && (place - 1)->end == low;
        if (joins_next) high = place->end;
        if (joins_last) low = (place - 1)->begin;
        if (joins_next && joins_last) {
            (place - 1)->end = high;
            free_.erase(place);
        } else if (joins_next) {
            place->begin = low;
        } else if (joins_last) {
            (place - 1)->end = high;
        } else {
            free_.insert(place, {low, high});
        }
        widest = std::max(widest, high - low);
    }

   private:
    static constexpr std::size_t kMostRanges = 100;  // ranges examined before the last one is tried

    Wide in_range(std::size_t at, const Wish& wish) const {
        const Wide base = wish.rule.at_least(free_[at].begin);
        return base + wish.height <= free_[at].end ? base : -1;
    }

    // No range below this address has ever been wide enough; none if no range at all has been.
    std::optional<Coord> least(Coord height) const {
        if (most_up_to_.empty()) return 0;
        const auto found = std::lower_bound(most_up_to_.begin(), most_up_to_.end(), height);
        if (found == most_up_to_.end()) return {};
        return begin_at_first_[static_cast<std::size_t>(found - most_up_to_.begin())];
    }

    std::size_t at_or_before(Coord low) const {
        const auto after = std::partition_point(free_.begin(), free_.end(), [&](const Range& range) { return range.begin <= low; });
        return after == free_.begin() ? 0 : static_cast<std::size_t>(after - free_.begin()) - 1;
    }

    std::vector<Range> free_;
    std::vector<Coord> most_up_to_, begin_at_first_;  // only for many ranges: the widest up to each, and where each began at first
};

}  // namespace memplan
