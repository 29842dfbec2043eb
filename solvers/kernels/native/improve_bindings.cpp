// What Python sees of the improvement of a placement.
#include "improve_bindings.hpp"

#include <exception>

#include "greedy_columns.hpp"
#include "improve_ejection.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memplan {

namespace {

nb::tuple improve_placement(std::int64_t sections, const nb::tuple& columns, const IntArray& start, std::int64_t enough, std::uint64_t seed,
                            std::int64_t work, nb::callable report) {
    const SearchInput input = input_of(sections, columns);
    EjectionOptions options;
    options.start = span_of(start), options.enough = enough, options.seed = seed;
    if (options.start.size() != input.blocks()) throw BadInput("one start offset a block");
    for (std::size_t block = 0; block < input.blocks(); ++block) {
        const Coord base = options.start[block];
        if (base < input.lowest[block] || base > input.highest[block]) throw BadInput("a start offset is out of its block's bounds");
    }
    if (enough < 0 || work < 0) throw BadInput("neither a peak nor work is negative");
    options.work = work > options.work / kLooksPerMicrosecond ? options.work : work * kLooksPerMicrosecond;

    const EjectionResult result = reporting_to(report, [&](const EjectionReport& tell) { return improve(input, options, tell); });
    return nb::make_tuple(to_numpy(result.offsets), result.work / kLooksPerMicrosecond);
}

}  // namespace

void bind_improve(nb::module_& m) {
    m.def("improve", &improve_placement, "sections"_a, "columns"_a, "start"_a.noconvert(), "enough"_a, "seed"_a, "work"_a, "report"_a,
          "Lowers the peak of a valid placement: (offsets, work in about microseconds); never worse than the start.\n\n"
          "report(offsets or None) is called every few milliseconds; True stops.");
}

}  // namespace memplan
