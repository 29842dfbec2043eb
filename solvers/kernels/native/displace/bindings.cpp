// Python bindings of displacing.
#include "bindings.hpp"

#include <numeric>

#include "displace/displacing.hpp"
#include "shared/columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memplan {

namespace {

constexpr Coord kMostCost = Coord{1} << 52;

void check(const SearchInput& input, const Homes& homes, const DisplacingOptions& options) {
    const auto demand = [](bool holds, const char* what) {
        if (!holds) throw BadInput(what);
    };
    const std::size_t n = input.blocks(), pools = homes.endless.size();
    demand(pools > 0, "there are no pools");
    for (const auto& one : {homes.cost, homes.lowest, homes.highest, homes.modulus, homes.residue}) demand(one.size() == n * pools, "one number a block and pool");
    for (const auto& one : {homes.stays, options.pool, options.offset}) demand(one.size() == n, "one number a block");
    demand(homes.taken.size() % 3 == 0, "what is taken are triples");
    demand(options.work >= 0, "work is not negative");
    const auto is_pool = [&](Coord pool) { return pool >= 0 && static_cast<std::size_t>(pool) < pools; };
    const auto is_address = [](Coord x) { return x >= 0 && x <= kAddressLimit; };
    std::vector<Coord> high(n, 0);
    for (std::size_t p = 0; p < input.parts(); ++p) {
        Coord& top = high[static_cast<std::size_t>(input.part_block[p])];
        top = std::max(top, input.part_high[p]);
    }
    Coord costs = 0;
    for (std::size_t b = 0; b < n; ++b) {
        demand(is_pool(options.pool[b]) && is_address(options.offset[b]), "everybody is at an address of a pool");
        for (std::size_t at = b * pools; at < (b + 1) * pools; ++at) {
            demand(homes.cost[at] >= 0 && homes.cost[at] <= kMostCost && (costs += homes.cost[at]) <= kMostCost, "the costs add up to no more than 2^52");
            demand(homes.modulus[at] >= 1 && homes.modulus[at] <= kAddressLimit, "a modulus is positive");
            demand(homes.residue[at] >= 0 && homes.residue[at] < homes.modulus[at], "a residue is below its modulus");
            demand(is_address(homes.lowest[at]) && homes.highest[at] >= -kAddressLimit && homes.highest[at] <= kAddressLimit - high[b], "all ends are addresses");
            demand(homes.lowest[at] > homes.highest[at] || homes.lowest[at] % homes.modulus[at] == homes.residue[at], "a lowest base is aligned");
        }
        const std::size_t here = b * pools + static_cast<std::size_t>(options.pool[b]);
        demand(homes.stays[b] != 0 || homes.lowest[here] <= homes.highest[here], "who moves is where it may be");
    }
    for (std::size_t i = 0; i < homes.taken.size(); i += 3) {
        demand(is_pool(homes.taken[i]) && is_address(homes.taken[i + 1]) && is_address(homes.taken[i + 2]), "a taken range is of addresses of a pool");
    }
}

nb::tuple displaced(std::int64_t sections, const nb::tuple& columns, const nb::tuple& homes, const IntArray& pool, const IntArray& offset,
                    std::uint64_t seed, std::int64_t work, const nb::callable& report) {
    const SearchInput input = input_of(sections, columns);
    Homes known;
    const auto fields = {&known.cost, &known.lowest, &known.highest, &known.modulus, &known.residue, &known.endless, &known.taken, &known.stays};
    if (homes.size() != fields.size()) throw BadInput("not as many columns as there should be");
    std::size_t i = 0;
    for (auto* field : fields) *field = span_of(nb::cast<IntArray>(homes[i++], false));
    DisplacingOptions options;
    options.pool = span_of(pool), options.offset = span_of(offset), options.seed = seed;
    options.work = work > options.work / kDisplacingLooksPerMicrosecond ? options.work : work * kDisplacingLooksPerMicrosecond;
    check(input, known, options);
    Displaced found = reporting_to(report, [&](const auto& tell) {
        const std::vector<Coord>* const nothing = nullptr;
        return displace(input, known, options, [&] { return tell(nothing); });
    });
    return nb::make_tuple(to_numpy(std::move(found.pool)), to_numpy(std::move(found.offset)), found.work / kDisplacingLooksPerMicrosecond);
}

}  // namespace

void bind_displace(nb::module_& m) {
    m.def("displace", &displaced, "sections"_a, "columns"_a, "homes"_a, "pool"_a.noconvert(), "offset"_a.noconvert(), "seed"_a, "work"_a, "report"_a,
          "Lowers what it costs to have blocks in their pools: (pools, offsets, work in about microseconds); never worse than the start.\n\n"
          "report(None) is called every few milliseconds; True stops.");
}

}  // namespace memplan
