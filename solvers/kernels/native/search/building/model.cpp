#include "search/building/model.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace memplan {

namespace {

std::vector<std::pair<int, int>> sorted_pairs(std::span<const Coord> flat) {
    std::vector<std::pair<int, int>> pairs;
    for (std::size_t i = 0; i + 1 < flat.size(); i += 2) {
        const int a = static_cast<int>(flat[i]), b = static_cast<int>(flat[i + 1]);
        pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    return pairs;
}

// Chooses the unit and origin in which all movable blocks' bases are whole numbers.
void choose_unit(Model& model, const SearchInput& input) {
    Coord unit = 0, origin = 0;
    bool first = true;
    for (const int b : model.original) {
        if (first) origin = input.residue[b];
        first = false;
        unit = std::gcd(unit, std::gcd(input.modulus[b], input.residue[b] - origin));
    }
    model.unit = std::max<Coord>(unit, 1);
    model.origin = origin % model.unit;
}

void scale_blocks(Model& model, const SearchInput& input, const PartView& view) {
    const Coord unit = model.unit, origin = model.origin;
    for (const int b : model.original) {
        Coord high = 0;
        for (const int p : view.parts[b]) high = std::max(high, input.part_high[p]);
        const Coord modulus = input.modulus[b] / unit;
        const Coord residue = floor_div(input.residue[b] - origin, unit);
        model.modulus.push_back(modulus);
        model.residue.push_back(((residue % modulus) + modulus) % modulus);
        model.lowest.push_back(ceil_div(input.lowest[b] - origin, unit));
        model.highest.push_back(floor_div(input.highest[b] - origin, unit));
        model.height.push_back(high);
        model.size.push_back(ceil_div(high, unit));
    }
    // An empty part may end above all others; it counts for the peak.
    for (std::size_t p = 0; p < input.parts(); ++p) {
        const int m = view.movable[input.part_block[p]];
        if (m >= 0) model.height[m] = std::max(model.height[m], input.part_high[p]);
    }
    model.lifetime.assign(model.blocks(), 0);
    for (std::size_t r = 0; r < input.rects(); ++r) {
        const int m = view.movable[input.part_block[input.rect_part[r]]];
        if (m >= 0) model.lifetime[m] += input.rect_end[r] - input.rect_start[r];
    }
}

// Numbers interchangeable blocks alike: plain blocks of one lifetime, size, alignment and bounds, which obstacles also hinder alike.
void find_twins(Model& model, const SearchInput& input, const PartView& view) {
    const int n = model.blocks();
    model.twin.resize(n);
    std::iota(model.twin.begin(), model.twin.end(), 0);
    if (!model.plain) return;
    std::vector<std::pair<Coord, Coord>> live(n);
    for (std::size_t r = 0; r < input.rects(); ++r) {
        const int m = view.movable[input.part_block[input.rect_part[r]]];
        const bool solid = input.part_high[input.rect_part[r]] > input.part_low[input.rect_part[r]];
        if (m >= 0 && solid) live[m] = {input.rect_start[r], input.rect_end[r]};
    }
    using Key = std::tuple<Coord, Coord, Coord, Coord, Coord, Coord, Coord>;
    std::map<Key, int> seen;
    for (int m = 0; m < n; ++m) {
        const Key key{live[m].first,      live[m].second,    model.height[m], model.modulus[m],
                      model.residue[m], model.lowest[m], model.highest[m]};
        model.twin[m] = seen.emplace(key, m).first->second;
    }
}

}  // namespace

// An upper bound on the ends in some best placement: a block at its lowest place rests on an obstacle or on another block.
void find_ceiling(Model& model) {
    Coord from = 0, total = 0;
    for (int j = 0; j < model.blocks(); ++j) {
        from = std::max(from, model.lowest[j]);
        for (int i = model.stops.begin(j); i < model.stops.end(j); ++i) from = std::max(from, model.stops.values[i].to);
        if (__builtin_add_overflow(total, model.size[j] + model.modulus[j], &total)) total = kAddressLimit;
        total = std::min(total, kAddressLimit);
    }
    model.ceiling = std::min(from + total, kAddressLimit);
}

bool PartView::is_excluded(int a, int b) const {
    return std::binary_search(excluded.begin(), excluded.end(), std::pair(std::min(a, b), std::max(a, b)));
}

Model build_model(const SearchInput& input, std::size_t max_pairs, Patience& patience) {
    Model model;
    PartView view;
    const int n = static_cast<int>(input.blocks());
    view.movable.assign(n, -1);
    view.parts.resize(n);
    view.excluded = sorted_pairs(input.exclusions);
    view.conflicts = sorted_pairs(input.conflicts);
    std::vector<int> rects_of(input.parts(), 0);
    for (std::size_t r = 0; r < input.rects(); ++r) ++rects_of[input.rect_part[r]];
    for (std::size_t p = 0; p < input.parts(); ++p) {
        if (input.part_high[p] > input.part_low[p]) view.parts[input.part_block[p]].push_back(static_cast<int>(p));
    }
    model.plain = view.excluded.empty() && view.conflicts.empty();
    for (int b = 0; b < n; ++b) {
        const auto& parts = view.parts[b];
        if (parts.size() > 1 || (parts.size() == 1 && (rects_of[parts[0]] > 1 || input.part_low[parts[0]] != 0))) {
            model.plain = false;
        }
        if (input.lowest[b] > input.highest[b]) model.contradiction = "a block has no place within its bounds";
        if (input.lowest[b] >= input.highest[b]) {
            model.fixed.emplace_back(b, input.lowest[b]);
        } else {
            view.movable[b] = model.blocks();
            model.original.push_back(b);
        }
    }
    for (std::size_t p = 0; p < input.parts(); ++p) {
        const int b = static_cast<int>(input.part_block[p]);
        if (view.movable[b] < 0) model.fixed_peak = std::max(model.fixed_peak, input.lowest[b] + input.part_high[p]);
    }
    model.separable = view.conflicts.empty();
    choose_unit(model, input);
    scale_blocks(model, input, view);
    add_pairs(model, input, view, max_pairs, patience);
    // Plain models list no pairs. A member of a clique takes 22 bytes there, a pair elsewhere 130, and a block as much as 23 members.
    const std::size_t for_blocks = 23 * static_cast<std::size_t>(model.blocks());
    const std::size_t most = model.plain ? 8 * max_pairs - std::min(for_blocks, 8 * max_pairs) : max_pairs;
    add_cliques(model, input, view, most, patience);
    find_twins(model, input, view);
    find_ceiling(model);
    return model;
}

}  // namespace memplan
