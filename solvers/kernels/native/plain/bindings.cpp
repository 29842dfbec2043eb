// Python bindings of open divisions, of lifted covers and of crowds: plain numbers, no arrays.
#include "bindings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "plain/crowds.hpp"
#include "plain/divisions.hpp"
#include "plain/lifting.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memplan {

namespace {

constexpr int kBitsOfCost = 100;
constexpr Cost kMostCost = Cost{1} << kBitsOfCost;  // also in solvers/kernels/plain.py
constexpr Coord kMostHeight = Coord{1} << 60;
constexpr Coord kMostExact = Coord{1} << 51;  // of heights; half of that in solvers/kernels/plain.py, since solutions are inexact
constexpr std::size_t kMostPlaces = std::size_t{1} << 31;  // of pools and of columns: their number is one more than the last
constexpr int kBitsALimb = 60;
constexpr const char* kEachPool = "costs of each pool";

using Chosen = std::vector<Home>;
using Coords = std::vector<Coord>;
using Columns = std::vector<std::size_t>;
using Shares = std::vector<double>;

void demand(bool holds, const char* what) {
    if (!holds) throw BadInput(what);
}

Cost cost_of(nb::handle number) {
    int is_large = 0;
    const long long small = PyLong_AsLongLongAndOverflow(number.ptr(), &is_large);
    if (small == -1 && PyErr_Occurred()) throw nb::python_error();
    if (is_large == 0) return small;
    const nb::object whole = nb::borrow(number), bits = nb::int_(kBitsALimb);
    const nb::object high = whole >> bits;
    std::int64_t upper = 0;
    demand(nb::try_cast(high, upper) && upper < std::int64_t{1} << 40 && upper >= -(std::int64_t{1} << 40), "no cost is 2^100 or more");
    return Cost{upper} * (Cost{1} << kBitsALimb) + nb::cast<std::int64_t>(whole - (high << bits));
}

nb::object to_python(Cost number) {
    const Cost high = number >> kBitsALimb;
    const nb::int_ low(static_cast<std::int64_t>(number - (high << kBitsALimb)));
    if (high == 0) return low;
    return (nb::int_(static_cast<std::int64_t>(high)) << nb::int_(kBitsALimb)) + low;
}

std::vector<Cost> costs_of(nb::handle numbers) {
    std::vector<Cost> found;
    for (const nb::handle each : numbers) found.push_back(cost_of(each));
    return found;
}

nb::object to_python(const std::optional<Part>& part) {
    if (!part) return nb::none();
    return nb::make_tuple(to_python(part->bound), nb::tuple(nb::cast(part->chosen)), nb::tuple(nb::cast(part->loads)), part->seen, part->last,
                          part->is_solved, part->note);
}

nb::object to_python(const Ranges& ranges) { return nb::tuple(nb::cast(ranges)); }

Part part_of(const OpenDivisions& self, Chosen chosen, Coords loads, Cost bound = 0, std::int64_t seen = 0, std::int64_t last = 0) {
    Part part{.bound = bound, .chosen = std::move(chosen), .loads = std::move(loads), .seen = seen, .last = last};
    demand(self.is_sound(part), "a part has its first classes in homes of theirs, no pool above its end, and was bounded by prices that there are");
    return part;
}

void make(OpenDivisions* self, std::vector<Chosen> homes, std::vector<Coords> units, Coords ends, Coords lowest, const Coords& always, Coord free,
          nb::handle enough) {
    const std::size_t pools = ends.size();
    demand(pools > 0 && lowest.size() == pools && always.size() == pools, "one number a pool");
    demand(units.size() == homes.size(), "units of each class");
    demand(std::ranges::equal(always, ends, std::less_equal()), "what is in a pool in any case is below its end");
    Coord total = 0;
    const auto count = [&](Coord number) { demand(number >= 0 && number <= kMostHeight && (total += number) <= kMostHeight, "heights add up to 2^60 at most"); };
    for (const auto& some : {std::cref(ends), std::cref(lowest), std::cref(always)}) std::ranges::for_each(some.get(), count);
    count(free < 0 ? -std::max(free, -kMostHeight - 1) : free);
    for (const Coords& some : units) {
        demand(some.size() == pools, "units in each pool");
        std::ranges::for_each(some, count);
    }
    for (const Chosen& some : homes) {
        demand(!some.empty(), "each class has a home");
        for (const Home pool : some) demand(pool >= 0 && static_cast<std::size_t>(pool) < pools, "homes are pools");
    }
    new (self) OpenDivisions(std::move(homes), std::move(units), std::move(ends), std::move(lowest), always, free, cost_of(enough));
}

void add(OpenDivisions& self, nb::handle rest, nb::handle due, nb::handle pools) {
    PricedSection prices;
    prices.rest = costs_of(rest);
    for (const nb::handle each : due) prices.due.push_back(costs_of(each));
    demand(prices.rest.size() == self.classes() + 1 && prices.due.size() == self.classes(), "costs of each class");
    for (const auto& each : prices.due) demand(each.size() == self.pools(), "costs in each pool");
    for (const nb::handle each : pools) {
        demand(prices.pools.size() < self.pools(), kEachPool);
        const Coord end = self.end_of(prices.pools.size());
        auto heights = nb::cast<Coords>(each[0]);
        auto values = costs_of(each[1]), slopes = costs_of(each[2]), least = costs_of(each[3]);
        const std::size_t count = heights.size();
        demand(count > 0 && values.size() == count && slopes.size() == count && least.size() == count, "one number for each part of a pool's heights");
        demand(heights.front() == 0 && heights.back() <= kMostHeight && std::ranges::is_sorted(heights), "parts begin at zero, in order");
        for (std::size_t i = 0; i < count; ++i) {
            const Coord length = std::min(i + 1 < count ? heights[i + 1] : end, end) - heights[i];
            demand(length <= 0 || std::max(slopes[i], -slopes[i]) <= kMostCost / length, "no pool's cost changes by more than 2^100");
        }
        prices.pools.emplace_back(std::move(heights), std::move(values), std::move(slopes), std::move(least));
    }
    demand(prices.pools.size() == self.pools(), kEachPool);
    self.add(std::move(prices));
}

nb::list checked_covers(const Coords& units, const Shares& shares, Coord room) {
    demand(units.size() == shares.size(), "a share of each class");
    demand(room >= -kMostHeight && room <= kMostHeight, "no room is above 2^60");
    Coord total = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
        demand(units[i] >= 0 && units[i] <= kMostHeight && (total += units[i]) <= kMostHeight, "units add up to 2^60 at most");
        demand(shares[i] >= -1 && shares[i] <= 2, "shares are of one");
    }
    nb::list found;
    for (const Cover& each : lifted_covers(units, shares, room)) found.append(nb::make_tuple(each.votes, each.least));
    return found;
}

bool is_exact(Coord height) { return height >= -kMostExact && height <= kMostExact; }

void demand_heights(std::size_t pools, const Ranges& ranges, const Shares& at) {
    demand(ranges.size() >= pools && at.size() == ranges.size(), "heights of each pool");
    for (const auto& [low, high] : ranges) demand(is_exact(low) && is_exact(high), "no height is above 2^51");
    demand(std::ranges::none_of(at, [](double each) { return std::isnan(each); }), "heights are numbers");
}

void demand_shares(std::size_t columns, const Shares& shares) {
    demand(shares.size() >= columns, "a share of each column");
    demand(std::ranges::none_of(shares, [](double each) { return std::isnan(each); }), "shares are numbers");
}

void demand_places(std::size_t pool, const Columns& columns) {
    demand(pool < kMostPlaces && std::ranges::all_of(columns, [](std::size_t each) { return each < kMostPlaces; }), "no pool or column is above 2^31");
}

void add_line(CrowdLines& self, std::size_t pool, Columns columns, Shares votes, Coords steps) {
    demand_places(pool, columns);
    demand(columns.size() == votes.size(), "votes of each column");
    const auto is_small = [](Coord step) { return step >= -2 * kMostExact && step <= 2 * kMostExact; };
    demand(std::ranges::is_sorted(steps) && std::ranges::all_of(steps, is_small), "steps are in order, and none is above 2^52");
    self.add(pool, std::move(columns), std::move(votes), std::move(steps));
}

nb::list lines(const CrowdLines& self, const Ranges& ranges, const Shares& at, std::size_t begin) {
    demand_heights(self.pools(), ranges, at);
    nb::list found;
    for (const auto& [value, slope] : self.lines(ranges, at, begin)) found.append(nb::make_tuple(value, slope));
    return found;
}

nb::list broken(const CrowdLines& self, const Shares& shares, const Ranges& ranges, const Shares& at, double least) {
    demand_heights(self.pools(), ranges, at);
    demand_shares(self.columns(), shares);
    nb::list found;
    for (const auto& [number, line] : self.broken(shares, ranges, at, least)) found.append(nb::make_tuple(number, line.value, line.slope));
    return found;
}

void make_rows(DividedRows* self, const std::vector<std::tuple<std::size_t, Coord, Coords, Columns>>& given) {
    std::vector<DividedRow> rows;
    for (const auto& [pool, base, units, columns] : given) {
        demand_places(pool, columns);
        demand(units.size() == columns.size(), "units of each column");
        Coord total = 0;
        for (const Coord each : units) demand(each >= 0 && each <= kMostExact && (total += each) <= kMostExact, "units add up to 2^51 at most");
        demand(is_exact(base), "no height is above 2^51");
        rows.push_back({.pool = pool, .base = base, .units = units, .columns = columns});
    }
    new (self) DividedRows(std::move(rows));
}

nb::list covers(const DividedRows& self, const Shares& shares, const Ranges& ranges, const Shares& at, const Coords& tops, const std::vector<Coords>& rooms,
                double least) {
    demand_heights(self.pools(), ranges, at);
    demand_shares(self.columns(), shares);
    demand(tops.size() == ranges.size() && rooms.size() == ranges.size(), "heights of each pool");
    demand(std::ranges::all_of(tops, is_exact), "no top is above 2^51");
    for (const Coords& some : rooms) demand(std::ranges::all_of(some, is_exact), "no room is above 2^51");
    nb::list found;
    for (const auto& [row, excess, cover] : self.covers(shares, ranges, at, tops, rooms, least)) {
        found.append(nb::make_tuple(row, excess, cover.votes, cover.least));
    }
    return found;
}

}  // namespace

void bind_plain(nb::module_& m) {
    m.def("lifted_covers", &checked_covers, "units"_a, "shares"_a, "room"_a, "Crowds of a row that has so much room (see solvers.kernels.plain).");
    nb::class_<CrowdLines>(m, "CrowdLines", "Lines above what crowds have room for (see solvers.kernels.plain).")
        .def(nb::init<>())
        .def("add", &add_line, "pool"_a, "columns"_a, "votes"_a, "steps"_a)
        .def("lines", &lines, "ranges"_a, "at"_a, "begin"_a)
        .def("broken", &broken, "shares"_a, "ranges"_a, "at"_a, "least"_a);
    nb::class_<DividedRows>(m, "DividedRows", "Rows with classes that may be divided (see solvers.kernels.plain).")
        .def("__init__", &make_rows, "rows"_a)
        .def("covers", &covers, "shares"_a, "ranges"_a, "at"_a, "tops"_a, "rooms"_a, "least"_a);
    nb::class_<OpenDivisions>(m, "OpenDivisions", "The open divisions of a section (see solvers.kernels.plain).")
        .def("__init__", &make, "homes"_a, "units"_a, "ends"_a, "lowest"_a, "always"_a, "free"_a, "enough"_a)
        .def_rw("work", &OpenDivisions::work)
        .def_rw("since", &OpenDivisions::since)
        .def("__len__", &OpenDivisions::size)
        .def("least", [](const OpenDivisions& self) { return to_python(self.least()); })
        .def("add", &add, "rest"_a, "due"_a, "pools"_a)
        .def(
            "push",
            [](OpenDivisions& self, nb::handle bound, Chosen chosen, Coords loads, std::int64_t seen, std::int64_t last, bool is_solved, std::int64_t note) {
                // What costs so much that it cannot be counted costs enough.
                const bool is_counted = bound < (nb::int_(1) << nb::int_(kBitsOfCost));
                Part part = part_of(self, std::move(chosen), std::move(loads), is_counted ? cost_of(bound) : kMostCost, seen, last);
                part.is_solved = is_solved, part.note = note;
                self.push(std::move(part));
            },
            "bound"_a, "chosen"_a, "loads"_a, "seen"_a, "last"_a, "is_solved"_a, "note"_a)
        .def("next", [](OpenDivisions& self, std::int64_t work, std::int64_t patience) { return to_python(self.next(work, patience)); }, "work"_a, "patience"_a)
        .def(
            "divide",
            [](OpenDivisions& self, Chosen chosen, Coords loads, nb::handle bound, std::int64_t last) {
                const Part part = part_of(self, std::move(chosen), std::move(loads), cost_of(bound), 0, last);
                demand(part.chosen.size() < self.classes(), "what is whole is not divided");
                self.divide(part);
            },
            "chosen"_a, "loads"_a, "bound"_a, "last"_a)
        .def("ahead", [](OpenDivisions& self, std::size_t width, std::int64_t work) {
                demand(width > 0, "at least one part is divided at a time");
                return to_python(self.ahead(width, work));
            }, "width"_a, "work"_a)
        .def(
            "around",
            [](OpenDivisions& self, Chosen chosen, Coords loads, nb::handle below) {
                return to_python(self.around(part_of(self, std::move(chosen), std::move(loads)), cost_of(below)));
            },
            "chosen"_a, "loads"_a, "below"_a)
        .def(
            "heights",
            [](const OpenDivisions& self, Chosen chosen, Coords loads) { return to_python(self.heights(part_of(self, std::move(chosen), std::move(loads)))); },
            "chosen"_a, "loads"_a)
        .def(
            "heights_below", [](OpenDivisions& self, nb::handle value, std::int64_t work) { return to_python(self.heights_below(cost_of(value), work)); },
            "value"_a, "work"_a);
}

}  // namespace memplan
