// Places units in the order of their births, each in the first pool with room: fast for any number of pools.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

// The fields are explained in interface.py (Rooms, Units).
struct BirthInput {
    std::span<const Coord> end, alignment, base, entered, taken;
    std::span<const Coord> birth, death, group_begin, listed, set_begin, sets;
    std::span<const Coord> height, modulus, residue, stride, most, fixed;
    std::span<const Coord> list_begin, list_pools;

    std::size_t pools() const { return end.size(); }
    std::size_t units() const { return birth.size(); }
    std::size_t groups() const { return height.size(); }
    std::size_t lists() const { return list_begin.size() - 1; }
};

enum class Hurry { kNo, kLate, kGiveUp };

struct BirthLimits {
    std::int64_t tries = 0, late_tries = 0;
    std::function<Hurry(bool)> ask;  // called regularly; with true after many failed tries
};

struct BirthPlan {
    bool complete = false;
    std::vector<Coord> pool;  // by unit
    std::vector<Coord> base;  // by group
};

BirthPlan place_by_birth(const BirthInput& input, const BirthLimits& limits);

}  // namespace memplan
