// Python bindings of placing by birth.
#include "bindings.hpp"

#include <nanobind/stl/string.h>

#include <exception>

#include "births/births.hpp"
#include "shared/columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memplan {

namespace {

nb::object by_birth(const nb::tuple& rooms, const nb::tuple& units, std::int64_t tries, std::int64_t late_tries, const nb::callable& ask) {
    BirthInput input;
    const auto of_rooms = {&input.end, &input.alignment, &input.base, &input.entered, &input.taken};
    const auto of_units = {&input.birth,  &input.death,   &input.group_begin, &input.listed, &input.set_begin, &input.sets,       &input.height,
                           &input.modulus, &input.residue, &input.stride,      &input.most,   &input.fixed,     &input.list_begin, &input.list_pools};
    const auto fill = [](const nb::tuple& columns, const auto& fields) {
        if (columns.size() != fields.size()) throw BadInput("not as many columns as there should be");
        std::size_t i = 0;
        for (auto* field : fields) *field = span_of(nb::cast<IntArray>(columns[i++], false));
    };
    fill(rooms, of_rooms);
    fill(units, of_units);
    if (tries < 0 || late_tries < 0) throw BadInput("numbers of tries are not negative");
    BirthLimits limits;
    limits.tries = tries, limits.late_tries = late_tries;
    // An exception from Python ends the work at once: there is only this thread.
    limits.ask = [&](bool tried) {
        nb::gil_scoped_acquire locked;
        const int answer = nb::cast<int>(ask(tried));
        return answer == 0 ? Hurry::kNo : answer == 1 ? Hurry::kLate : Hurry::kGiveUp;
    };
    BirthPlan plan = [&] {
        nb::gil_scoped_release unlocked;
        return place_by_birth(input, limits);
    }();
    if (!plan.complete) return nb::none();
    return nb::make_tuple(to_numpy(std::move(plan.pool)), to_numpy(std::move(plan.base)));
}

}  // namespace

void bind_births(nb::module_& m) {
    m.def("by_birth", &by_birth, "rooms"_a, "units"_a, "tries"_a, "late_tries"_a, "ask"_a,
          "Of each unit its pool and of each group its base, placed in the order of the units; None if one finds no room.");
}

}  // namespace memplan
