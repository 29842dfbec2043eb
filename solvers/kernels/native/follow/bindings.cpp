// Python bindings of following.
#include "bindings.hpp"

#include <cmath>
#include <vector>

#include "follow/following.hpp"
#include "shared/columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memplan {

namespace {

using Floats = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check(const Divisions& divisions, const Course& course, const FollowingOptions& options, Coord most) {
    const auto demand = [](bool holds, const char* what) {
        if (!holds) throw BadInput(what);
    };
    constexpr std::size_t kMost = std::size_t{1} << 30;
    const std::size_t pools = options.pools, classes = options.classes(), changes = course.who.size(), here = divisions.classes.size();
    demand(pools > 0 && pools <= kMostPoolsFollowed, "one to 255 pools");
    demand(most > 0 && static_cast<std::size_t>(most) < kMost, "how many choices are followed is positive");
    demand(!course.begin.empty() && course.begin.front() == 0 && course.begin.back() == static_cast<Coord>(changes), "changes belong to steps");
    for (std::size_t step = 0; step < course.steps(); ++step) demand(course.begin[step] <= course.begin[step + 1], "changes belong to steps");
    demand(options.cost.size() == classes * pools && course.always.size() == course.steps() * pools, "one number a pool");
    demand(course.kind.size() == changes && course.more.size() == changes * pools, "one kind a change, and one number a pool");
    demand(divisions.room.size() % pools == 0 && divisions.room.size() < kMost, "one number a pool");
    demand(divisions.chosen.size() == divisions.room.size() / pools * here, "one pool a class");
    for (const double cost : options.cost) demand(std::isfinite(cost) || cost > 0, "a cost is a number, or infinite");
    for (const Coord pool : divisions.chosen) demand(pool >= 0 && static_cast<std::size_t>(pool) < pools, "a class is in a pool");
    enum { kNever, kHere, kGone };
    std::vector<char> is(classes, kNever);
    const auto is_class = [&](Coord who) { return who >= 0 && static_cast<std::size_t>(who) < classes; };
    for (const Coord who : divisions.classes) {
        demand(is_class(who) && is[static_cast<std::size_t>(who)] == kNever, "who is there is a class, once");
        is[static_cast<std::size_t>(who)] = kHere;
    }
    for (std::size_t step = 0; step < course.steps(); ++step) {
        bool some_came = false;
        for (Coord change = course.begin[step]; change < course.begin[step + 1]; ++change) {
            const Coord kind = course.kind[static_cast<std::size_t>(change)], who = course.who[static_cast<std::size_t>(change)];
            demand(kind >= kOther && kind <= kComes && is_class(who), "a change is of a class");
            demand(kind == kComes || !some_came, "those that come are the last changes of a step");
            some_came = kind == kComes;
            char& now = is[static_cast<std::size_t>(who)];
            demand(now == (kind == kComes ? kNever : kHere), "a class comes once, and goes once");
            now = kind == kGoes ? kGone : kHere;
        }
    }
}

nb::tuple followed(std::int64_t pools, const nb::tuple& divisions, const nb::tuple& course, const Floats& cost, std::int64_t most, bool with_pools,
                   const nb::callable& report) {
    Divisions known;
    Course changes;
    const auto fields = {&known.classes, &known.chosen, &known.room};
    const auto columns = {&changes.always, &changes.begin, &changes.kind, &changes.who, &changes.more};
    if (divisions.size() != fields.size() || course.size() != columns.size()) throw BadInput("not as many columns as there should be");
    std::size_t i = 0, j = 0;
    for (auto* field : fields) *field = span_of(nb::cast<IntArray>(divisions[i++], false));
    for (auto* column : columns) *column = span_of(nb::cast<IntArray>(course[j++], false));
    FollowingOptions options;
    options.pools = pools < 0 ? 0 : static_cast<std::size_t>(pools);
    options.cost = {cost.data(), cost.shape(0)}, options.most = static_cast<std::size_t>(most), options.with_pools = with_pools;
    check(known, changes, options, most);
    Followed found = reporting_to(report, [&](const auto& tell) {
        const std::vector<Coord>* const nothing = nullptr;
        return follow(known, changes, options, [&] { return tell(nothing); });
    });
    return nb::make_tuple(to_numpy(std::move(found.divisions)), to_numpy(std::move(found.cost)), to_numpy(std::move(found.pools)), found.work);
}

}  // namespace

void bind_follow(nb::module_& m) {
    m.def("follow", &followed, "pools"_a, "divisions"_a, "course"_a, "cost"_a.noconvert(), "most"_a, "with_pools"_a, "report"_a,
          "Follows choices below the heights of divisions through time: (divisions that are left, what the cheapest choice of each costs, their pools, work).\n\n"
          "report(None) is called every few milliseconds; True stops, and then no division is left.");
}

}  // namespace memplan
