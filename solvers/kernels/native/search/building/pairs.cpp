// Which blocks conflict, and how far apart they must stay.
#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "search/building/model.hpp"

namespace memplan {

namespace {

// Calls visit(p, q) for parts of positive length and of different blocks that are live together; a pair may come several times. With
// `fixed_only`, at least one of the two belongs to a fixed block.
template <typename Visit>
void each_live_pair(const SearchInput& input, const PartView& view, bool fixed_only, Patience& patience, Visit&& visit) {
    std::vector<Event> events;
    for (std::size_t r = 0; r < input.rects(); ++r) {
        const auto p = input.rect_part[r];
        if (input.part_high[p] <= input.part_low[p] || input.rect_start[r] >= input.rect_end[r]) continue;
        events.push_back({input.rect_start[r], true, static_cast<int>(r)});
        events.push_back({input.rect_end[r], false, static_cast<int>(r)});
    }
    std::sort(events.begin(), events.end());
    std::vector<int> lists[2], place(input.rects());  // the live rects: of movable blocks, of fixed ones
    for (const Event& event : events) {
        const bool fixed = view.movable[input.part_block[input.rect_part[event.what]]] < 0;
        std::vector<int>& live = lists[fixed];
        if (!event.begins) {
            const int hole = place[event.what];
            live[hole] = live.back();
            place[live[hole]] = hole;
            live.pop_back();
            continue;
        }
        const auto p = input.rect_part[event.what];
        for (const auto& list : lists) {
            if (fixed_only && !fixed && &list == &lists[0]) continue;
            patience.spend(list.size());
            for (const int other : list) {
                const auto q = input.rect_part[other];
                if (input.part_block[p] != input.part_block[q]) visit(static_cast<int>(p), static_cast<int>(q));
            }
        }
        place[event.what] = static_cast<int>(live.size());
        live.push_back(event.what);
    }
}

struct Forbidden {
    int block, other;  // block < other
    Coord low, high;   // open interval of x[other] - x[block]
    bool operator<(const Forbidden& f) const {
        return std::tie(block, other, low, high) < std::tie(f.block, f.other, f.low, f.high);
    }
};

// Calls visit(block, other, gaps) for each pair of the sorted list, in its order. Merges overlapping open intervals. Touching ones stay apart: the
// distance between them is allowed.
template <typename Visit>
void each_pair(const std::vector<Forbidden>& all, Visit&& visit) {
    std::vector<Gap> gaps;
    for (std::size_t i = 0; i < all.size();) {
        const int block = all[i].block, other = all[i].other;
        gaps.clear();
        for (; i < all.size() && all[i].block == block && all[i].other == other; ++i) {
            if (!gaps.empty() && all[i].low < gaps.back().high) {
                gaps.back().high = std::max(gaps.back().high, all[i].high);
            } else {
                gaps.push_back({all[i].low, all[i].high});
            }
        }
        visit(block, other, gaps);
    }
}

// Lists each pair with both of its blocks. A block's row is sorted, as it meets its lower neighbours before it comes first itself.
void close_general(Model& model, std::vector<Forbidden>& all) {
    std::sort(all.begin(), all.end());
    std::vector<int>& start = model.neighbours.start;
    start.assign(model.blocks() + 1, 0);
    each_pair(all, [&](int block, int other, const std::vector<Gap>&) {
        ++start[block + 1];
        ++start[other + 1];
    });
    std::partial_sum(start.begin(), start.end(), start.begin());
    model.neighbours.values.resize(start.back());
    model.distance.resize(start.back());
    model.split.resize(start.back());
    std::vector<int> next(start.begin(), start.end() - 1);
    const auto list = [&](int block, int other, const std::vector<Gap>& gaps) {
        const int edge = next[block]++;
        model.neighbours.values[edge] = other;
        model.distance[edge] = {gaps.front().low, gaps.back().high};
        model.split[edge] = kNone;
        if (gaps.size() == 1) return;
        model.split[edge] = model.pieces.rows();
        model.pieces.values.insert(model.pieces.values.end(), gaps.begin(), gaps.end());
        model.pieces.close_row();
    };
    std::vector<Gap> turned;
    each_pair(all, [&](int block, int other, const std::vector<Gap>& gaps) {
        list(block, other, gaps);
        turned.clear();
        for (auto gap = gaps.rbegin(); gap != gaps.rend(); ++gap) turned.push_back({-gap->high, -gap->low});
        list(other, block, turned);
    });
}

}  // namespace

void append_merged(Rows<Range>& rows, std::vector<Range>& ranges) {
    std::sort(ranges.begin(), ranges.end(), [](Range a, Range b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
    const std::size_t first = rows.values.size();
    for (const Range& range : ranges) {
        if (range.from >= range.to) continue;
        if (rows.values.size() > first && range.from <= rows.values.back().to) {
            rows.values.back().to = std::max(rows.values.back().to, range.to);
        } else {
            rows.values.push_back(range);
        }
    }
    rows.close_row();
}

void add_pairs(Model& model, const SearchInput& input, const PartView& view, std::size_t max_pairs, Patience& patience) {
    const Coord unit = model.unit, origin = model.origin;
    std::vector<Forbidden> general;
    std::vector<std::vector<Range>> stops(model.blocks());

    const auto visit = [&](int p, int q) {
        const int a = static_cast<int>(input.part_block[p]), b = static_cast<int>(input.part_block[q]);
        const int j = view.movable[a], k = view.movable[b];
        // Distances x[b] - x[a] are forbidden strictly between these.
        const Coord low = input.part_low[p] - input.part_high[q], high = input.part_high[p] - input.part_low[q];
        if (j < 0 && k < 0) {
            const Coord apart = input.lowest[b] - input.lowest[a];
            if (low < apart && apart < high) model.contradiction = "two fixed blocks overlap";
        } else if (j < 0) {
            const Coord at = input.lowest[a] - origin;
            stops[k].push_back({floor_div(at + low, unit) + 1, ceil_div(at + high, unit)});
        } else if (k < 0) {
            const Coord at = input.lowest[b] - origin;
            stops[j].push_back({floor_div(at - high, unit) + 1, ceil_div(at - low, unit)});
        } else {
            const Coord below = floor_div(low, unit), above = ceil_div(high, unit);
            general.push_back(j < k ? Forbidden{j, k, below, above} : Forbidden{k, j, -above, -below});
        }
        if (general.size() > max_pairs) throw TooLarge("it has too many conflicting pairs");
    };

    // The conflicts of plain blocks follow from cliques, so only pairs with a fixed block are looked up for them.
    each_live_pair(input, view, model.plain, patience, [&](int p, int q) {
        if (view.excluded.empty() || !view.is_excluded(p, q)) visit(p, q);
    });
    for (const auto& [p, q] : view.conflicts) {
        const bool solid = input.part_high[p] > input.part_low[p] && input.part_high[q] > input.part_low[q];
        if (solid && input.part_block[p] != input.part_block[q]) visit(p, q);
    }

    for (std::size_t r = 0; r + 1 < input.reserved.size(); r += 2) {
        const Coord from = input.reserved[r], to = input.reserved[r + 1];
        for (std::size_t p = 0; p < input.parts(); ++p) {
            if (input.part_high[p] <= input.part_low[p]) continue;
            const int b = static_cast<int>(input.part_block[p]), j = view.movable[b];
            const Coord low = from - input.part_high[p], high = to - input.part_low[p];
            if (j >= 0) {
                stops[j].push_back({floor_div(low - origin, unit) + 1, ceil_div(high - origin, unit)});
            } else if (low < input.lowest[b] && input.lowest[b] < high) {
                model.contradiction = "a fixed block lies in a reserved range";
            }
        }
    }
    for (auto& ranges : stops) append_merged(model.stops, ranges);
    if (!model.plain) close_general(model, general);
}

}  // namespace memplan
