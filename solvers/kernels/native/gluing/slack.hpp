// The free room in each section below a height, and the cost of using some of it: the less room there is, the more it costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

// The same numbers stand in solvers/kernels/python/gluing.
inline constexpr int kHeightBits = 24;              // costs use the leading bits of heights; what fits is decided exactly
inline constexpr std::uint32_t kWholeCost = 1U << 31;  // cost of all the room that a section has
inline constexpr std::size_t kSectionsABlock = 64;

inline constexpr Coord kOne = Coord{1} << 16;           // one, in logarithms and energies

// The logarithm to base 2 in 65536ths: exact for powers of two, linear between them.
inline Coord log2_of(std::uint64_t number) {
    const int top = 63 - __builtin_clzll(number | 1);
    const std::uint64_t rest = number ^ (std::uint64_t{1} << top);
    const std::uint64_t part = top >= 16 ? rest >> (top - 16) : rest << (16 - top);
    return (static_cast<Coord>(top) << 16) + static_cast<Coord>(part);
}

class Slack {
public:
    void resize(std::size_t sections) {
        free_.assign(sections, 0), price_.assign(sections, 0);
        const std::size_t blocks = (sections + kSectionsABlock - 1) / kSectionsABlock;
        least_.assign(blocks, 0), sum_.assign(blocks, 0);
    }

    std::size_t sections() const { return free_.size(); }

    // Sets the free room below the height over these live sums.
    void fill(Coord height, const std::vector<Coord>& live) {
        shift_ = 0;
        while ((height >> shift_) >> kHeightBits != 0) ++shift_;
        for (std::size_t t = 0; t < free_.size(); ++t) free_[t] = height - live[t];
        renew(0, free_.size());
    }

    // The same use of room below a height that is so much higher.
    void shift_by(Coord higher) {
        for (Coord& room : free_) room += higher;
        renew(0, free_.size());
    }

    // True if one of these sections has less than no room.
    bool lacks(std::size_t first, std::size_t last) const {
        for (std::size_t t = first; t < last; ++t) {
            if (free_[t] < 0) return true;
        }
        return false;
    }

    Coord scaled(Coord height) const { return (height + (Coord{1} << shift_) - 1) >> shift_; }
    Coord at(std::size_t section) const { return free_[section]; }

    // The total room, scaled.
    Coord total() const {
        Coord sum = 0;
        for (const Coord room : free_) sum += room >> shift_;
        return sum;
    }

    // The same below this height over these live sums, with nothing used.
    Coord room(Coord height, const std::vector<Coord>& live) const {
        Coord sum = 0;
        for (const Coord used : live) sum += (height - used) >> shift_;
        return sum;
    }

    void take(std::size_t first, std::size_t last, Coord height) {
        for (std::size_t t = first; t < last; ++t) free_[t] -= height;
        renew(first, last);
    }

    // True if each of these sections has this much room; `cost` grows by its cost.
    bool price(std::size_t first, std::size_t last, Coord height, Coord& cost, std::int64_t& work) const {
        if (free_[first] < height || free_[last - 1] < height) return false;
        Coord sum = 0;
        std::size_t t = first;
        while (t < last) {
            if (t % kSectionsABlock == 0 && t + kSectionsABlock <= last) {
                const std::size_t block = t / kSectionsABlock;
                ++work;
                if (least_[block] < height) return false;
                sum += sum_[block], t += kSectionsABlock;
                continue;
            }
            const std::size_t stop = std::min(last, (t / kSectionsABlock + 1) * kSectionsABlock);
            work += static_cast<std::int64_t>(stop - t + 7) / 8;
            Coord least = free_[t];
            for (std::size_t u = t; u < stop; ++u) least = std::min(least, free_[u]), sum += price_[u];
            if (least < height) return false;
            t = stop;
        }
        Coord wasted = scaled(height) * sum;
        // A piece that ends exactly where the room changes leaves no useless rest beside it.
        if ((first == 0 ? 0 : free_[first - 1]) == free_[first] - height) wasted /= kExactEnd;
        if ((last == free_.size() ? 0 : free_[last]) == free_[last - 1] - height) wasted /= kExactEnd;
        cost += wasted;
        return true;
    }

private:
    static constexpr Coord kExactEnd = 10;

    void renew(std::size_t first, std::size_t last) {
        if (first == last) return;
        for (std::size_t t = first; t < last; ++t) {
            const Coord room = free_[t] >> shift_;
            price_[t] = room <= 1 ? kWholeCost : kWholeCost / static_cast<std::uint32_t>(room);
        }
        for (std::size_t block = first / kSectionsABlock; block * kSectionsABlock < last; ++block) {
            const std::size_t begin = block * kSectionsABlock, end = std::min(free_.size(), begin + kSectionsABlock);
            Coord least = free_[begin], sum = 0;
            for (std::size_t t = begin; t < end; ++t) least = std::min(least, free_[t]), sum += price_[t];
            least_[block] = least, sum_[block] = sum;
        }
    }

    int shift_ = 0;
    std::vector<Coord> free_;
    std::vector<std::uint32_t> price_;  // cost per unit of height
    std::vector<Coord> least_, sum_;    // over blocks of 64 sections
};

}  // namespace memplan
