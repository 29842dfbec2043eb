// The Python module: numpy arrays are read without copying, and the GIL is released during the work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <exception>

#include "bindings.hpp"
#include "shared/input.hpp"
#include "shared/sweep.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Takes any stride and read-only arrays; another type or number of dimensions is a TypeError, not a silent copy.
using Ints = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu>;

memplan::Column column(const Ints& array) { return {array.data(), array.shape(0), array.stride(0)}; }

void raise(const char* name, const std::exception& error) {
    PyErr_SetString(nb::module_::import_("solvers.kernels.interface").attr(name).ptr(), error.what());
}

// Called by nanobind whenever a kernel throws; other exceptions go on to the next translator.
void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const memplan::BadInput& error) {
        raise("BadKernelInput", error);
    } catch (const memplan::TooLarge& error) {
        raise("TooLarge", error);
    }
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The kernels in C++.";
    nb::register_exception_translator(translate);
    memplan::bind_births(m);
    memplan::bind_displace(m);
    memplan::bind_follow(m);
    memplan::bind_greedy(m);
    memplan::bind_lowering(m);
    memplan::bind_plain(m);
    memplan::bind_search(m);

    m.def(
        "max_live",
        [](const Ints& starts, const Ints& ends, const Ints& weights, std::int64_t sections) {
            const memplan::Column s = column(starts), e = column(ends), w = column(weights);
            nb::gil_scoped_release unlocked;
            const memplan::MaxLive best = memplan::max_live(s, e, w, sections);
            return std::pair(best.sum, best.section);
        },
        "starts"_a.noconvert(), "ends"_a.noconvert(), "weights"_a.noconvert(), "sections"_a,
        "The largest sum of weights live in one section, and the first section where it occurs.");
    m.def(
        "apart",
        [](const Ints& starts, const Ints& ends, const Ints& pools, const Ints& lows, const Ints& highs) {
            const memplan::Column s = column(starts), e = column(ends), p = column(pools), l = column(lows), h = column(highs);
            nb::gil_scoped_release unlocked;
            return memplan::apart(s, e, p, l, h);
        },
        "starts"_a.noconvert(), "ends"_a.noconvert(), "pools"_a.noconvert(), "lows"_a.noconvert(), "highs"_a.noconvert(),
        "Has no address of a pool two rects at any time?");
}
