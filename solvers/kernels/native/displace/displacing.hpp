// Lowers the cost of a placement in several pools: a block takes a place in a cheaper pool, and those in its way go elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

inline constexpr std::int64_t kDisplacingLooksPerMicrosecond = 24;

// What holds of each block in each pool, block by block, and then of each pool or block.
struct Homes {
    std::span<const Coord> cost, lowest, highest, modulus, residue;
    std::span<const Coord> endless;  // 1 where whoever comes finds room
    std::span<const Coord> taken;    // triples (pool, low, high)
    std::span<const Coord> stays;    // 1 for a block that is not moved
};

struct DisplacingOptions {
    std::span<const Coord> pool, offset;  // where everybody is
    std::uint64_t seed = 0;
    std::int64_t work = std::numeric_limits<std::int64_t>::max() / 4;  // in looks
};

struct Displaced {
    std::vector<Coord> pool, offset;
    std::int64_t work = 0;
};

// Called every few milliseconds; true stops.
using DisplacingReport = std::function<bool()>;

Displaced displace(const SearchInput& input, const Homes& homes, const DisplacingOptions& options, const DisplacingReport& report);

}  // namespace memplan
