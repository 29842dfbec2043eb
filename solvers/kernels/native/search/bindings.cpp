// Python bindings of the exact search.
#include "bindings.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "shared/columns.hpp"
#include "search/descent.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memplan {

namespace {

nb::object offsets_of(const DescentResult& result) { return result.peak ? to_numpy(result.offsets) : nb::none(); }

nb::list attempts_of(const DescentResult& result) {
    nb::list all;
    for (const Tried& one : result.attempts) all.append(nb::make_tuple(one.strategy, one.settled, one.work));
    return all;
}

const char* name_of(End end) {
    switch (end) {
        case End::kProved: return "proved";
        case End::kFits: return "fits";
        case End::kImpossible: return "impossible";
        case End::kWork: return "work";
        default: return "stopped";
    }
}

template <bool kLog>
nb::tuple search(std::int64_t sections, const nb::tuple& columns, std::int64_t bound, std::optional<std::int64_t> incumbent, bool fit,
                 std::uint64_t seed, int threads, std::optional<std::int64_t> work, std::int64_t max_pairs, nb::callable report,
                 std::optional<IntArray> active_threads) {
    const SearchInput input = input_of(sections, columns);
    DescentOptions options;
    options.bound = bound;
    options.incumbent = incumbent;
    options.fit = fit;
    options.seed = seed;
    options.threads = threads;
    options.log = kLog;
    if (active_threads && active_threads->shape(0) != 1) throw BadInput("active_threads is one number");
    if (active_threads) options.active_threads = active_threads->data();
    if (work) options.work = *work > options.work / kWorkPerMicrosecond ? options.work : *work * kWorkPerMicrosecond;

    const DescentResult result = reporting_to(report, [&](const auto& tell) {
        const std::vector<Coord>* const nothing = nullptr;
        Patience patience([&] { return tell(nothing, bound); });
        try {
            const Model model = build_model(input, static_cast<std::size_t>(max_pairs), patience);
            return descend(model, options, [&](const DescentResult& known, bool better) {
                return tell(better && known.peak ? &known.offsets : nothing, known.bound);
            });
        } catch (const Interrupted&) {
            DescentResult none;
            none.end = End::kStopped, none.bound = bound;
            return none;
        }
    });
    const auto work_done = result.work / kWorkPerMicrosecond;
    if constexpr (kLog) {
        return nb::make_tuple(name_of(result.end), offsets_of(result), result.bound, result.nodes, work_done, attempts_of(result));
    } else {
        return nb::make_tuple(name_of(result.end), offsets_of(result), result.bound, result.nodes, work_done);
    }
}

}  // namespace

void bind_search(nb::module_& m) {
    m.def("search", &search<false>, "sections"_a, "columns"_a, "bound"_a, "incumbent"_a.none(), "fit"_a, "seed"_a, "threads"_a, "work"_a.none(),
          "max_pairs"_a, "report"_a, "active_threads"_a.none() = nb::none(),
          "Searches one pool for the least peak: (how it ended, offsets or None, bound, nodes, work in about microseconds).\n\n"
          "report(offsets or None, bound) is called every few milliseconds and at every better plan; True stops the search.");
    m.def("search_logged", &search<true>, "sections"_a, "columns"_a, "bound"_a, "incumbent"_a.none(), "fit"_a, "seed"_a, "threads"_a,
          "work"_a.none(), "max_pairs"_a, "report"_a, "active_threads"_a.none() = nb::none(),
          "The same with one thing more: of each attempt its strategy, whether it settled its round, and its work, 512 of which are one unit.");
}

}  // namespace memplan
