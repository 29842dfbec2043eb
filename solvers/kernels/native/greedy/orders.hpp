// The orders in which blocks are placed, with the same names and tie-breaks as solvers/fitting/orders.py.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "shared/blocks.hpp"

namespace memplan {

// The rank of each number among the different ones, 0 for the first.
struct Ranking {
    std::vector<Index> rank;
    int bits = 0;
};

// Can be used from several threads.
class Orders {
public:
    static std::vector<std::string> names();
    static std::size_t count() { return kOrders.size(); }
    // Throws BadInput if there is no order of this name.
    static std::size_t number(std::string_view name);

    explicit Orders(const Blocks& blocks) : blocks_(&blocks) {}

    // All blocks, fixed ones first.
    std::vector<Index> order(std::size_t number);

private:
    enum Measure { kSize, kWidth, kArea, kTotal, kBirth, kDeath, kMeasures };
    struct Order {
        const char* name;
        std::vector<Measure> keys;
    };
    static const std::vector<Order> kOrders;

    // The ranking of all blocks by a measure; computed on first use, since one order is often enough.
    const Ranking& ranking(Measure measure);
    Ranking ranked_by(Measure measure) const;

    const Blocks* blocks_;
    std::array<std::once_flag, kMeasures> measured_;
    std::array<Ranking, kMeasures> rankings_;
};

}  // namespace memplan
