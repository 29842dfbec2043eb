// Python bindings of the kernels that lower the peak of a placement: improve, beam and gluing.
#include "bindings.hpp"

#include "beam/beam.hpp"
#include "gluing/gluing.hpp"
#include "improve/ejection.hpp"
#include "shared/columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memplan {

namespace {

using Kernel = Improvement (*)(const SearchInput&, const ImprovementOptions&, const ImprovementReport&);

Improvement improved(Kernel kernel, std::int64_t looks_per_microsecond, const SearchInput& input, const IntArray& start, std::int64_t enough,
                  std::uint64_t seed, std::int64_t work, const nb::callable& report, bool falls = true) {
    ImprovementOptions options;
    options.start = span_of(start), options.enough = enough, options.seed = seed, options.falls = falls;
    if (options.start.size() != input.blocks()) throw BadInput("one start offset a block");
    for (std::size_t block = 0; block < input.blocks(); ++block) {
        const Coord base = options.start[block];
        if (base < input.lowest[block] || base > input.highest[block]) throw BadInput("a start offset is out of its block's bounds");
    }
    if (enough < 0 || work < 0) throw BadInput("neither a peak nor work is negative");
    options.work = work > options.work / looks_per_microsecond ? options.work : work * looks_per_microsecond;

    Improvement found = reporting_to(report, [&](const ImprovementReport& tell) { return kernel(input, options, tell); });
    found.work /= looks_per_microsecond;
    return found;
}

nb::tuple lowered(Kernel kernel, std::int64_t looks_per_microsecond, const SearchInput& input, const IntArray& start, std::int64_t enough,
                  std::uint64_t seed, std::int64_t work, const nb::callable& report) {
    const Improvement found = improved(kernel, looks_per_microsecond, input, start, enough, seed, work, report);
    return nb::make_tuple(to_numpy(found.offsets), found.work);
}

nb::tuple improve_placement(std::int64_t sections, const nb::tuple& columns, const IntArray& start, std::int64_t enough, std::uint64_t seed,
                            std::int64_t work, nb::callable report) {
    return lowered(&improve, kLooksPerMicrosecond, input_of(sections, columns), start, enough, seed, work, report);
}

nb::tuple beam(std::int64_t sections, const nb::tuple& columns, const IntArray& start, std::int64_t enough, std::uint64_t seed, std::int64_t work,
               nb::callable report) {
    const SearchInput input = input_of(sections, columns);
    if (!beam_takes(input)) throw BadInput("blocks of one rect each, without pairs or reserved ranges");
    return lowered(&sweep_with_beam, kBeamLooksPerMicrosecond, input, start, enough, seed, work, report);
}

nb::tuple gluing(std::int64_t sections, const nb::tuple& columns, const IntArray& start, std::int64_t enough, std::uint64_t seed,
                 std::int64_t work, nb::callable report) {
    const SearchInput input = input_of(sections, columns);
    if (!beam_takes(input)) throw BadInput("blocks of one rect each, without pairs or reserved ranges");
    return lowered(&glue_together, kGluingLooksPerMicrosecond, input, start, enough, seed, work, report);
}

nb::tuple glued_pieces(std::int64_t sections, const nb::tuple& columns, const IntArray& start, std::int64_t enough, std::uint64_t seed,
                       std::int64_t work, nb::callable report) {
    const SearchInput input = input_of(sections, columns);
    if (!beam_takes(input)) throw BadInput("blocks of one rect each, without pairs or reserved ranges");
    const Improvement found = improved(&glue_together, kGluingLooksPerMicrosecond, input, start, enough, seed, work, report, false);
    return nb::make_tuple(to_numpy(found.offsets), to_numpy(found.parents), found.work);
}

}  // namespace

void bind_lowering(nb::module_& m) {
    m.def("improve", &improve_placement, "sections"_a, "columns"_a, "start"_a.noconvert(), "enough"_a, "seed"_a, "work"_a, "report"_a,
          "Lowers the peak of a valid placement: (offsets, work in about microseconds); never worse than the start.\n\n"
          "report(offsets or None) is called every few milliseconds; True stops.");
    m.def("beam", &beam, "sections"_a, "columns"_a, "start"_a.noconvert(), "enough"_a, "seed"_a, "work"_a, "report"_a,
          "The same for plain blocks, sweeping through time.");
    m.def("gluing", &gluing, "sections"_a, "columns"_a, "start"_a.noconvert(), "enough"_a, "seed"_a, "work"_a, "report"_a,
          "The same for plain blocks, by joining pieces until one is left.");
    m.def("glued_pieces", &glued_pieces, "sections"_a, "columns"_a, "start"_a.noconvert(), "enough"_a, "seed"_a, "work"_a, "report"_a,
          "The same with the pieces, in which the blocks stay: (offsets, the piece that each block and piece is part of, work).");
}

}  // namespace memplan
