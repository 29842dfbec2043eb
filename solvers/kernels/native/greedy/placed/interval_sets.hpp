// Many small sets of addresses, each a list of sorted intervals that do not overlap or touch; all share one block of memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/blocks.hpp"

namespace memplan {

class IntervalSets {
public:
    explicit IntervalSets(std::size_t count) : sets_(count) {}

    std::span<const Interval> of(std::size_t set) const { return {memory_.data() + sets_[set].first, sets_[set].size}; }
    // False if the set already contained the whole interval.
    bool add(std::size_t set, Interval added);
    void clear();

private:
    struct Set {
        std::uint32_t first = 0, size = 0, room = 0;
    };

    void grow(Set& set);

    std::vector<Set> sets_;
    std::vector<Interval> memory_;
    std::array<std::vector<std::uint32_t>, 32> free_;  // freed ranges, by the logarithm of their length
};

}  // namespace memplan
