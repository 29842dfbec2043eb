// What Python sees of the exact search.
#include "search_bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "search_check.hpp"
#include "search_descent.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memplan {

namespace {

using Ints = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const Coord> span(const Ints& array) { return {array.data(), array.shape(0)}; }

nb::object to_numpy(const std::vector<Coord>& values) {
    auto owned = std::make_unique<std::vector<Coord>>(values);
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<Coord>*>(p); });
    auto* data = owned.release();
    return nb::cast(nb::ndarray<nb::numpy, Coord, nb::ndim<1>>(data->data(), {data->size()}, owner));
}

nb::object offsets_of(const DescentResult& result) { return result.peak ? to_numpy(result.offsets) : nb::none(); }

const char* name_of(End end) {
    switch (end) {
        case End::kProved: return "proved";
        case End::kFits: return "fits";
        case End::kImpossible: return "impossible";
        case End::kWork: return "work";
        default: return "stopped";
    }
}

nb::tuple search(std::int64_t sections, const Ints& part_block, const Ints& part_low, const Ints& part_high, const Ints& rect_part,
                 const Ints& rect_start, const Ints& rect_end, const Ints& modulus, const Ints& residue, const Ints& lowest,
                 const Ints& highest, const Ints& reserved, const Ints& conflicts, const Ints& exclusions, std::int64_t bound,
                 std::optional<std::int64_t> incumbent, bool fit, std::uint64_t seed, int threads,
                 std::optional<std::int64_t> work, std::int64_t max_pairs, nb::callable report) {
    SearchInput input;
    input.sections = sections;
    input.part_block = span(part_block), input.part_low = span(part_low), input.part_high = span(part_high);
    input.rect_part = span(rect_part), input.rect_start = span(rect_start), input.rect_end = span(rect_end);
    input.modulus = span(modulus), input.residue = span(residue), input.lowest = span(lowest), input.highest = span(highest);
    input.reserved = span(reserved), input.conflicts = span(conflicts), input.exclusions = span(exclusions);
    check_search_input(input);

    DescentOptions options;
    options.bound = bound;
    options.incumbent = incumbent;
    options.fit = fit;
    options.seed = seed;
    options.threads = threads;
    if (work) options.work = *work > options.work / kWorkPerMicrosecond ? options.work : *work * kWorkPerMicrosecond;

    // An error of the callback (Ctrl-C, say) must not fly through the threads: it stops the search and is raised afterwards.
    std::exception_ptr broken;
    const Report tell = [&](const DescentResult& result, bool better) {
        nb::gil_scoped_acquire locked;
        try {
            return nb::cast<bool>(report(better ? offsets_of(result) : nb::none(), result.bound));
        } catch (...) {
            broken = std::current_exception();
            return true;
        }
    };
    DescentResult result;
    {
        nb::gil_scoped_release unlocked;
        const Model model = build_model(input, static_cast<std::size_t>(max_pairs));
        result = descend(model, options, tell);
    }
    if (broken) std::rethrow_exception(broken);
    return nb::make_tuple(name_of(result.end), offsets_of(result), result.bound, result.nodes, result.work / kWorkPerMicrosecond);
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::exception<Unsupported>(m, "TooLarge", PyExc_ValueError);
    m.def("search", &search, "sections"_a, "part_block"_a.noconvert(), "part_low"_a.noconvert(), "part_high"_a.noconvert(),
          "rect_part"_a.noconvert(), "rect_start"_a.noconvert(), "rect_end"_a.noconvert(), "modulus"_a.noconvert(),
          "residue"_a.noconvert(), "lowest"_a.noconvert(), "highest"_a.noconvert(), "reserved"_a.noconvert(),
          "conflicts"_a.noconvert(), "exclusions"_a.noconvert(), "bound"_a, "incumbent"_a.none(), "fit"_a, "seed"_a,
          "threads"_a, "work"_a.none(), "max_pairs"_a, "report"_a,
          "Searches one pool for the least peak: (how it ended, offsets or None, bound, nodes, work in about microseconds).\n\n"
          "report(offsets or None, bound) is called every few milliseconds and at every better plan; True stops the search.");
}

}  // namespace memplan
