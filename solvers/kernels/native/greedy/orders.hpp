// In which order to place blocks: the same orders, with the same names and ties, as solvers/fitting/orders.py.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "shared/blocks.hpp"

namespace memplan {

class Orders {
public:
    static std::vector<std::string> names();
    static std::size_t count() { return kOrders.size(); }
    // Throws BadInput where there is no order of this name.
    static std::size_t number(std::string_view name);

    explicit Orders(const Blocks& blocks);

    // All blocks, fixed ones first.
    std::vector<Index> order(std::size_t number) const;

private:
    enum Measure { kSize, kWidth, kArea, kTotal, kBirth, kDeath, kMeasures };
    struct Order {
        const char* name;
        std::vector<Measure> keys;
    };
    static const std::vector<Order> kOrders;

    const Blocks* blocks_;
    // Of each block by each measure: its place among the different values, 0 for the one that comes first.
    std::array<std::vector<Index>, kMeasures> rank_;
    std::array<int, kMeasures> bits_{};
};

}  // namespace memplan
