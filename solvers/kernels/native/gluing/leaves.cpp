#include "gluing/leaves.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/gluing.
constexpr std::size_t kTriesABox = 20;
constexpr std::int64_t kLooksAPair = 4;

Coord common_alignment(const SearchInput& input) {
    for (std::size_t block = 0; block < input.blocks(); ++block) {
        if (input.modulus[block] != input.modulus[0] || input.residue[block] != 0 || input.lowest[block] != 0) return 1;
    }
    return input.blocks() ? input.modulus[0] : 1;
}

// The blocks of a piece, and their distances above its base.
std::vector<std::pair<Coord, Node>> leaves_of(const Forest& forest, Node whole) {
    std::vector<std::pair<Coord, Node>> leaves, open{{0, whole}};
    while (!open.empty()) {
        const auto [base, node] = open.back();
        open.pop_back();
        const Piece& piece = forest[node];
        if (piece.joint == Joint::kLeaf) {
            leaves.push_back({base, node});
            continue;
        }
        const auto top = [&](std::size_t part, Coord floor) { return floor + forest[piece.parts[part]].height; };
        open.push_back({base, piece.parts[0]});
        open.push_back({piece.joint == Joint::kStack ? top(0, base) : base, piece.parts[1]});
        if (piece.joint != Joint::kWheel) continue;
        const Coord middle = top(0, base);
        open.push_back({middle, piece.parts[2]});
        open.push_back({std::max(top(1, base), top(4, middle)), piece.parts[3]});
        open.push_back({middle, piece.parts[4]});
    }
    return leaves;
}

// The height of the boxes if each is placed in this order as low as it fits, and their bases.
std::pair<Coord, std::vector<Coord>> lowest_bases(const Forest& forest, const std::vector<Node>& boxes, const std::vector<std::size_t>& order) {
    std::vector<Coord> bases(boxes.size());
    std::vector<std::pair<Coord, Coord>> taken;
    Coord peak = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Piece& box = forest[boxes[order[i]]];
        taken.clear();
        for (std::size_t k = 0; k < i; ++k) {
            const Piece& there = forest[boxes[order[k]]];
            const Coord base = bases[order[k]];
            if (there.begin < box.end && box.begin < there.end) taken.push_back({base, base + there.height});
        }
        std::sort(taken.begin(), taken.end());
        Coord floor = 0;
        for (const auto& [base, end] : taken) {
            if (base - floor >= box.height) break;
            floor = std::max(floor, end);
        }
        bases[order[i]] = floor;
        peak = std::max(peak, floor + box.height);
    }
    return {peak, std::move(bases)};
}

}  // namespace

LeafBlocks::LeafBlocks(const SearchInput& input)
    : input_(input), unit_(common_alignment(input)), pieces_(input.blocks()), size_(input.blocks()) {
    std::vector<Coord> times;
    for (std::size_t r = 0; r < input.rects(); ++r) times.push_back(input.rect_start[r]), times.push_back(input.rect_end[r]);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    const auto section = [&](Coord time) { return static_cast<std::int32_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin()); };
    for (std::size_t r = 0; r < input.rects(); ++r) {
        const auto block = static_cast<std::size_t>(input.part_block[static_cast<std::size_t>(input.rect_part[r])]);
        size_[block] = input.part_high[static_cast<std::size_t>(input.rect_part[r])];
        pieces_[block].begin = section(input.rect_start[r]), pieces_[block].end = section(input.rect_end[r]);
        pieces_[block].height = (size_[block] + unit_ - 1) / unit_;
    }
    const std::size_t sections = times.empty() ? 0 : times.size() - 1;
    live_.assign(sections + 1, 0);
    for (const Piece& leaf : pieces_) {
        live_[static_cast<std::size_t>(leaf.begin)] += leaf.height, live_[static_cast<std::size_t>(leaf.end)] -= leaf.height;
    }
    for (std::size_t t = 0; t < sections; ++t) live_[t + 1] += live_[t];
    live_.resize(sections);
}

Coord LeafBlocks::peak_of(const std::vector<Coord>& offsets) const {
    Coord peak = 0;
    for (std::size_t block = 0; block < count(); ++block) peak = std::max(peak, offsets[block] + size_[block]);
    return peak;
}

std::optional<std::vector<Coord>> LeafBlocks::settle(const Forest& forest, const std::vector<Node>& boxes, const std::vector<Coord>& floors,
                                                     bool falls, std::int64_t& work) const {
    std::vector<std::pair<Coord, Node>> leaves;
    for (std::size_t box = 0; box < boxes.size(); ++box) {
        for (const auto& [base, leaf] : leaves_of(forest, boxes[box])) leaves.push_back({floors[box] + base, leaf});
    }
    std::sort(leaves.begin(), leaves.end());
    std::vector<Coord> top(live_.size(), 0), bases(count(), 0);
    for (const auto& [base, leaf] : leaves) {
        const auto first = top.begin() + piece(leaf).begin, last = top.begin() + piece(leaf).end;
        if (!put(leaf, falls ? *std::max_element(first, last) : base, bases)) return std::nullopt;
        std::fill(first, last, bases[static_cast<std::size_t>(leaf)] + piece(leaf).height);
        work += last - first;
    }
    for (Coord& base : bases) base *= unit_;
    return bases;
}

std::vector<Coord> LeafBlocks::parents(const Forest& forest, const std::vector<Node>& boxes) const {
    std::vector<Coord> parents(count(), -1);
    std::vector<std::pair<Node, Coord>> open;
    for (const Node box : boxes) open.push_back({box, -1});
    while (!open.empty()) {
        const auto [node, parent] = open.back();
        open.pop_back();
        if (forest[node].joint == Joint::kLeaf) {
            parents[static_cast<std::size_t>(node)] = parent;
            continue;
        }
        for (const Node part : forest[node].made_of()) open.push_back({part, static_cast<Coord>(parents.size())});
        parents.push_back(parent);
    }
    return parents;
}

// Puts the block at its lowest suitable base from `floor` on; false if there is none.
bool LeafBlocks::put(Node leaf, Coord floor, std::vector<Coord>& bases) const {
    const auto block = static_cast<std::size_t>(leaf);
    bases[block] = suitable(block, floor);
    return bases[block] <= input_.highest[block] / unit_;
}

Coord LeafBlocks::suitable(std::size_t block, Coord base) const {
    if (unit_ > 1) return base;
    base = std::max(base, input_.lowest[block]);
    const Coord rest = (base - input_.residue[block]) % input_.modulus[block];
    return rest == 0 ? base : base - rest + (rest > 0 ? input_.modulus[block] : 0);
}

std::vector<Node> by_area(const Forest& forest, const Slack& slack) {
    std::vector<Node> boxes = forest.loose();
    const auto area = [&](Node node) { return slack.scaled(forest[node].height) * (forest[node].end - forest[node].begin); };
    std::sort(boxes.begin(), boxes.end(), [&](Node a, Node b) { return std::pair(-area(a), a) < std::pair(-area(b), b); });
    return boxes;
}

std::vector<Coord> piled(const Forest& forest, const std::vector<Node>& boxes, Course& course) {
    std::vector<std::size_t> order(boxes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    auto best = lowest_bases(forest, boxes, order);
    const std::size_t tries = boxes.size() > 2 ? kTriesABox * boxes.size() : 0;
    for (std::size_t n = 0; n < tries; ++n) {
        const std::size_t a = course.below(order.size()), b = course.below(order.size());
        std::swap(order[a], order[b]);
        auto next = lowest_bases(forest, boxes, order);
        if (next.first <= best.first) {
            best = std::move(next);
        } else {
            std::swap(order[a], order[b]);
        }
    }
    course.work += static_cast<std::int64_t>((tries + 1) * boxes.size() * boxes.size()) * kLooksAPair;
    return std::move(best.second);
}

}  // namespace memplan
