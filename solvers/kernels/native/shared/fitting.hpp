// The exact search as other kernels ask it: is there a place for each block?
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

// The offsets of the blocks, none of which ends above this height; none if there are none, or the work ends first. Work is in approximate microseconds, as
// in Python; `work` grows by what was done. `stopped` is called every few milliseconds.
std::optional<std::vector<Coord>> fitted_below(Coord height, const SearchInput& input, std::uint64_t seed, std::int64_t most_work, std::int64_t& work,
                                               const std::function<bool()>& stopped);

}  // namespace memplan
