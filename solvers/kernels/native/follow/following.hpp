// Choices below the heights of many divisions, followed through time side by side: what does not fit any more is left out, the cheapest of each go on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

inline constexpr std::int64_t kFollowingPerMicrosecond = 1000;  // its work is counted in nanoseconds
inline constexpr std::size_t kMostPoolsFollowed = 255;

enum Change : Coord { kOther = 0, kGoes = 1, kComes = 2 };

// Where everything begins: who is there, and division by division the pool of each of them, and the room that is left in each pool.
struct Divisions {
    std::span<const Coord> classes, chosen, room;
};

// What happens at each step: how much more is taken in each pool in any case, and changes of classes; those that come are the last ones.
struct Course {
    std::span<const Coord> always;  // (steps, pools)
    std::span<const Coord> begin;   // (steps + 1) which changes
    std::span<const Coord> kind, who;
    std::span<const Coord> more;  // (changes, pools)

    std::size_t steps() const { return begin.size() - 1; }
};

struct FollowingOptions {
    std::size_t pools = 0;
    std::span<const double> cost;  // (classes, pools) infinite where a class may not be
    std::size_t most = 0;          // so many choices are followed, in all
    bool with_pools = false;

    std::size_t classes() const { return pools == 0 ? 0 : cost.size() / pools; }
};

struct Followed {
    std::vector<Coord> divisions;  // that are left
    std::vector<double> cost;      // of the cheapest choice of each
    std::vector<Coord> pools;      // of each class there, -1 for those that did not come
    std::int64_t work = 0;
};

// Called every few milliseconds; true stops, and then no division is left.
using FollowingReport = std::function<bool()>;

Followed follow(const Divisions& divisions, const Course& course, const FollowingOptions& options, const FollowingReport& report);

}  // namespace memplan
