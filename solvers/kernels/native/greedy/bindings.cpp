// Python bindings of the greedy passes.
#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "shared/columns.hpp"
#include "greedy/orders.hpp"
#include "greedy/pass.hpp"
#include "greedy/portfolio.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memplan {

namespace {

using Ints = IntArray;

nb::object portfolio(std::int64_t sections, const nb::tuple& columns, const std::vector<std::pair<std::string, std::string>>& passes,
                    std::optional<Ints> start, std::optional<std::int64_t> enough, int threads, nb::callable report) {
    const SearchInput input = input_of(sections, columns);
    GreedyOptions options;
    for (const auto& [order, fit] : passes) options.passes.push_back({Orders::number(order), fit_named(fit)});
    if (passes.empty()) throw BadInput("there are no passes");
    options.enough = enough.value_or(options.enough), options.threads = threads;
    if (start) options.start = span_of(*start);
    if (start && options.start.size() != input.blocks()) throw BadInput("one start offset a block");
    for (const Coord base : options.start) {
        if (base < 0 || base > kAddressLimit) throw BadInput("start offsets are addresses");
    }

    GreedyResult result = reporting_to(report, [&](const GreedyReport& tell) { return greedy(input, options, tell); });
    return result.complete ? to_numpy(std::move(result.offsets)) : nb::none();
}

nb::object order(std::int64_t sections, const nb::tuple& columns, const std::string& order) {
    const std::size_t number = Orders::number(order);
    const Blocks blocks(input_of(sections, columns));
    return to_numpy(Orders(blocks).order(number));
}

struct Placed {
    std::vector<Coord> offsets, tops;
};

Placed placed(std::int64_t sections, const nb::tuple& columns, const Ints& order, const std::string& fit, const std::optional<nb::callable>& hurries, std::vector<Index>* left_out) {
    const Fit wanted = fit_named(fit);
    const Blocks blocks(input_of(sections, columns));
    const std::vector<Index> sequence(order.data(), order.data() + order.shape(0));
    for (const Index block : sequence) {
        if (block >= blocks.count) throw BadInput("an order is of blocks");
    }
    const Layout layout(blocks);
    const std::atomic<bool> stop = false;
    const std::atomic<Index> last_pass = 1;
    PassLimits limits;
    limits.left_out = left_out;
    limits.highest_end.assign(blocks.components, kAddressLimit);
    limits.stop = &stop, limits.last_pass = &last_pass;
    if (hurries) limits.hurries = [&] { return nb::cast<bool>((*hurries)()); };
    Pass pass(blocks, layout);
    PassResult result = pass.run(sequence, wanted, limits);
    return {{pass.offsets().begin(), pass.offsets().end()}, std::move(result.tops)};
}

nb::object place(std::int64_t sections, const nb::tuple& columns, const Ints& order, const std::string& fit, const std::optional<nb::callable>& hurries) {
    Placed found = placed(sections, columns, order, fit, hurries, nullptr);
    for (const Coord top : found.tops) {
        if (top < 0) return nb::none();
    }
    return to_numpy(std::move(found.offsets));
}

nb::tuple fill(std::int64_t sections, const nb::tuple& columns, const Ints& order, const std::string& fit, const std::optional<nb::callable>& hurries) {
    std::vector<Index> left_out;
    Placed found = placed(sections, columns, order, fit, hurries, &left_out);
    return nb::make_tuple(to_numpy(std::move(found.offsets)), to_numpy(std::vector<Coord>(left_out.begin(), left_out.end())));
}

}  // namespace

void bind_greedy(nb::module_& m) {
    m.def("greedy", &portfolio, "sections"_a, "columns"_a, "passes"_a, "start"_a.none(), "enough"_a.none(), "threads"_a, "report"_a,
          "The best placement of every component that the passes find; None if a component fits nowhere.");
    m.def("greedy_orders", &Orders::names, "The names of all orders.");
    m.def("greedy_order", &order, "sections"_a, "columns"_a, "order"_a, "One of the orders, fixed blocks first.");
    m.def("greedy_place", &place, "sections"_a, "columns"_a, "order"_a.noconvert(), "fit"_a,
          "hurries"_a.none() = nb::none(), "Offsets of blocks placed one after the other, or on top if it hurries; None if one fits nowhere.");
    m.def("greedy_fill", &fill, "sections"_a, "columns"_a, "order"_a.noconvert(), "fit"_a,
          "hurries"_a.none() = nb::none(), "Offsets of blocks placed one after the other, or on top if it hurries, and those left out for want of room.");
}

}  // namespace memplan
