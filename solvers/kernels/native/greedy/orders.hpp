// The orders in which blocks are placed, with the same names and tie-breaks as solvers/fitting/orders.py.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "shared/blocks.hpp"

namespace memplan {

// What blocks are sorted by, least first, and the bits that the greatest has.
struct Keys {
    std::vector<std::uint64_t> values;
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
        std::vector<Measure> measures;
    };
    static const std::vector<Order> kOrders;

    // The keys of all blocks by a measure; computed on first use, since one order is often enough.
    const Keys& keys_of(Measure measure);
    Keys measured(Measure measure) const;

    const Blocks* blocks_;
    std::array<std::once_flag, kMeasures> measured_;
    std::array<Keys, kMeasures> keys_;
};

}  // namespace memplan
