// The free ranges of a pool, by address.
#pragma once

#include <algorithm>
#include <utility>
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

// They are kept in chunks, so that a room with very many is searched and changed quickly.
class Room {
   public:
    Room(Coord end, std::span<const Coord> taken) {  // triples (pool, low, high), sorted and disjoint
        Coord here = 0;
        for (std::size_t i = 0; i + 2 < taken.size(); i += 3) {
            if (taken[i + 1] > here && end > here) append({here, std::min(taken[i + 1], end)});
            here = std::max(here, taken[i + 2]);
        }
        if (here < end) append({here, end});
        for (const Chunk& chunk : chunks_) widest = std::max(widest, chunk.widest);
    }

    Coord widest = 0;  // an upper bound on the width of the free ranges

    // The lowest base at which `height` addresses are free; -1 if there is none. After kMostMisses ranges that are wide enough, but in which
    // no base is as wished, the last range is preferred.
    Coord base(const Wish& wish) {
        std::size_t misses = 0;
        Coord seen = 0;
        for (const Chunk& chunk : chunks_) {
            seen = std::max(seen, chunk.widest);
            if (chunk.widest < wish.height) continue;
            for (const Range& range : chunk.ranges) {
                if (range.width() < wish.height) continue;
                const Wide base = in_range(range, wish);
                if (base >= 0) return base <= wish.most ? static_cast<Coord>(base) : -1;
                if (++misses != kMostMisses) continue;
                const Wide last = in_range(chunks_.back().ranges.back(), wish);  // usually it is wide
                if (last >= 0 && last <= wish.most) return static_cast<Coord>(last);
            }
        }
        widest = seen;
        return -1;
    }

    void take(Coord low, Coord high) {
        const std::size_t number = chunk_of(low);
        Chunk& chunk = chunks_[number];
        const auto place = std::partition_point(chunk.ranges.begin(), chunk.ranges.end(), [&](const Range& range) { return range.begin <= low; }) - 1;
        const auto [begin, end] = *place;
        if (begin < low && high < end) {
            place->end = low;
            chunk.ranges.insert(place + 1, {high, end});
        } else if (begin < low) {
            place->end = low;
        } else if (high < end) {
            place->begin = high;
        } else {
            chunk.ranges.erase(place);
        }
        changed(number, end - begin);
    }

    void give_back(Coord low, Coord high) {
        widest = std::max(widest, high - low);
        if (chunks_.empty()) return append({low, high});
        const std::size_t number = chunk_of(low);
        Chunk& chunk = chunks_[number];
        auto place = std::partition_point(chunk.ranges.begin(), chunk.ranges.end(), [&](const Range& range) { return range.begin < low; });
        if (place != chunk.ranges.end()) {
            if (place->begin == high) high = place->end, place = chunk.ranges.erase(place);
        } else if (number + 1 < chunks_.size() && chunks_[number + 1].ranges.front().begin == high) {
            std::vector<Range>& after = chunks_[number + 1].ranges;
            const Coord width = after.front().width();
            high = after.front().end;
            after.erase(after.begin());
            changed(number + 1, width);
        }
        if (place != chunk.ranges.begin() && (place - 1)->end == low) {
            low = (place - 1)->begin;
            (place - 1)->end = high;
        } else {
            chunk.ranges.insert(place, {low, high});
        }
        chunk.widest = std::max(chunk.widest, high - low);
        widest = std::max(widest, high - low);
        changed(number, -1);
    }

   private:
    static constexpr std::size_t kMostMisses = 100;
    static constexpr std::size_t kMostInChunk = 128;

    struct Range {
        Coord begin, end;
        Coord width() const { return end - begin; }
    };
    struct Chunk {
        std::vector<Range> ranges;  // at least one
        Coord widest = 0;
    };

    static Wide in_range(const Range& range, const Wish& wish) {
        const Wide base = wish.rule.at_least(range.begin);
        return base + wish.height <= range.end ? base : -1;
    }

    void append(const Range& range) {
        if (chunks_.empty() || chunks_.back().ranges.size() == kMostInChunk) chunks_.emplace_back();
        chunks_.back().ranges.push_back(range);
        chunks_.back().widest = std::max(chunks_.back().widest, range.width());
    }

    // The last chunk that begins at or before this address; the first if none does.
    std::size_t chunk_of(Coord low) const {
        const auto after = std::partition_point(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) { return chunk.ranges.front().begin <= low; });
        return after == chunks_.begin() ? 0 : static_cast<std::size_t>(after - chunks_.begin()) - 1;
    }

    // A range of this width is no longer in the chunk, or one more range is.
    void changed(std::size_t number, Coord lost) {
        Chunk& chunk = chunks_[number];
        const auto place = chunks_.begin() + static_cast<std::ptrdiff_t>(number);
        if (chunk.ranges.empty()) {
            chunks_.erase(place);
            return;
        }
        if (lost == chunk.widest) measure(chunk);
        if (chunk.ranges.size() <= kMostInChunk) return;
        const auto middle = chunk.ranges.begin() + kMostInChunk / 2;
        Chunk second{{middle, chunk.ranges.end()}};
        chunk.ranges.erase(middle, chunk.ranges.end());
        measure(chunk), measure(second);
        chunks_.insert(place + 1, std::move(second));
    }

    static void measure(Chunk& chunk) {
        chunk.widest = 0;
        for (const Range& range : chunk.ranges) chunk.widest = std::max(chunk.widest, range.width());
    }

    std::vector<Chunk> chunks_;
};

}  // namespace memplan
