// In which order to place blocks: the same orders, and the same ties, as solvers/fitting/orders.py.
#pragma once

#include <array>
#include <vector>

#include "shared/blocks.hpp"

namespace memplan {

class Orders {
public:
    static constexpr Index kCount = 10;

    explicit Orders(const Blocks& blocks);

    // All blocks, fixed ones first.
    std::vector<Index> order(Index number) const;

private:
    enum Measure { kSize, kWidth, kArea, kTotal, kBirth, kDeath, kMeasures };
    static const std::array<std::vector<Measure>, kCount> kKeys;

    const Blocks* blocks_;
    // Of each block by each measure: its place among the different values, 0 for the one that comes first.
    std::array<std::vector<Index>, kMeasures> rank_;
    std::array<int, kMeasures> bits_{};
};

}  // namespace memplan
