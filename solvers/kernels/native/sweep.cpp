#include "sweep.hpp"

#include <vector>

#include "bad_input.hpp"

namespace memplan {

namespace {

constexpr std::int64_t total_limit = std::int64_t{1} << 62;

}  // namespace

MaxLive max_live(Column starts, Column ends, Column weights, std::int64_t sections) {
    if (starts.size != ends.size || starts.size != weights.size) {
        throw BadInput("starts, ends and weights differ in length");
    }
    if (sections < 0) {
        throw BadInput("the number of sections is negative");
    }
    if (sections >= total_limit) {
        throw BadInput("there are too many sections");
    }
    // change[s] is what the live sum rises by on entering section s; all partial sums stay within the total.
    std::vector<std::int64_t> change(static_cast<std::size_t>(sections) + 1, 0);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < starts.size; ++i) {
        const std::int64_t start = starts[i], end = ends[i], weight = weights[i];
        if (start < 0 || start > end || end > sections) {
            throw BadInput("a rect lies outside the sections, or ends before it starts");
        }
        if (weight < 0) {
            throw BadInput("a weight is negative");
        }
        // Both are below 2^62 here, so this sum cannot overflow before it is checked.
        if (weight >= total_limit || (total += weight) >= total_limit) {
            throw BadInput("the weights add up to 2^62 or more");
        }
        change[static_cast<std::size_t>(start)] += weight;
        change[static_cast<std::size_t>(end)] -= weight;
    }

    MaxLive best;
    std::int64_t live = 0;
    for (std::int64_t section = 0; section < sections; ++section) {
        live += change[static_cast<std::size_t>(section)];
        if (!best.section || live > best.sum) {
            best = {live, section};
        }
    }
    return best;
}

}  // namespace memplan
