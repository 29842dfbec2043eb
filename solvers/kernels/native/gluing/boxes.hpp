// The few pieces that gluing leaves, as boxes that the exact search places.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "gluing/forest.hpp"

namespace memplan {

// The bases of the loose pieces below this height; none if there are none, or the search ends before it finds them. `work` grows by the search's microseconds.
std::optional<std::vector<Coord>> placed_below(Coord height, const Forest& forest, std::uint64_t seed, std::int64_t most_work, std::int64_t& work,
                                               const std::function<bool()>& stopped);

}  // namespace memplan
