// Conversion of numpy arrays: input is not copied, and a vector becomes an array on return.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "shared/check.hpp"

namespace memplan {

using IntArray = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

inline constexpr Coord kMostSections = Coord{1} << 31;

inline std::span<const Coord> span_of(const IntArray& array) { return {array.data(), array.shape(0)}; }

template <typename Item>
nanobind::object given_away(std::vector<Item>&& values) {
    auto owned = std::make_unique<std::vector<Item>>(std::move(values));
    nanobind::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<Item>*>(p); });
    auto* data = owned.release();
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, Item, nanobind::ndim<1>>(data->data(), {data->size()}, owner));
}

inline nanobind::object to_numpy(std::vector<Coord>&& values) { return given_away(std::move(values)); }
inline nanobind::object to_numpy(std::vector<double>&& values) { return given_away(std::move(values)); }

template <typename Item>
nanobind::object to_numpy(const std::vector<Item>& values) {
    return to_numpy(std::vector<Coord>(values.begin(), values.end()));
}

// The arrays of an instance with one pool, in the order of SearchInput. They belong to the caller's tuple.
inline SearchInput input_of(std::int64_t sections, const nanobind::tuple& columns) {
    SearchInput input;
    input.sections = sections;
    const auto fields = {&input.part_block, &input.part_low, &input.part_high, &input.rect_part, &input.rect_start,
                         &input.rect_end,   &input.modulus,  &input.residue,   &input.lowest,    &input.highest,
                         &input.reserved,   &input.conflicts, &input.exclusions};
    if (columns.size() != fields.size()) throw BadInput("not as many columns as there should be");
    std::size_t i = 0;
    for (auto* field : fields) *field = span_of(nanobind::cast<IntArray>(columns[i++], false));
    if (sections < 0 || sections > kMostSections) throw BadInput("too few or too many sections");
    check_search_input(input);
    return input;
}

// Works without the GIL and reports better offsets to Python; non-const offsets are given away. An exception of the callback (Ctrl-C, say) must not
// cross threads: it stops the work and is raised afterwards.
template <typename Work>
auto reporting_to(const nanobind::callable& report, const Work& work) {
    std::exception_ptr broken;
    const auto tell = [&](auto* offsets, auto... more) {
        nanobind::gil_scoped_acquire locked;
        try {
            return nanobind::cast<bool>(report(offsets ? to_numpy(std::move(*offsets)) : nanobind::none(), more...));
        } catch (...) {
            broken = std::current_exception();
            return true;
        }
    };
    auto result = [&] {
        nanobind::gil_scoped_release unlocked;
        return work(tell);
    }();
    if (broken) std::rethrow_exception(broken);
    return result;
}

}  // namespace memplan
