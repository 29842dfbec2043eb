#include "gluing/leaves.hpp"

#include <algorithm>
#include <utility>

namespace memplan {

namespace {

Coord common_alignment(const SearchInput& input) {
    for (std::size_t block = 0; block < input.blocks(); ++block) {
        if (input.modulus[block] != input.modulus[0] || input.residue[block] != 0 || input.lowest[block] != 0) return 1;
    }
    return input.blocks() ? input.modulus[0] : 1;
}

// The blocks of a piece, by address, and how far above its base they are.
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
        open.push_back({base, piece.first});
        open.push_back({piece.joint == Joint::kStack ? base + forest[piece.first].height : base, piece.second});
    }
    std::sort(leaves.begin(), leaves.end());
    return leaves;
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

std::optional<std::vector<Coord>> LeafBlocks::settle(const Forest& forest, const Slack& slack, std::int64_t& work) const {
    std::vector<Node> pieces = forest.loose();
    const auto area = [&](Node node) { return slack.scaled(forest[node].height) * (forest[node].end - forest[node].begin); };
    const auto largest_first = [&](Node a, Node b) { return std::pair(-area(a), a) < std::pair(-area(b), b); };
    std::sort(pieces.begin(), pieces.end(), largest_first);
    std::vector<Coord> top(live_.size(), 0), bases(count(), 0);
    std::vector<Node> placed, left;
    for (const Node whole : pieces) {
        const auto begin = top.begin() + forest[whole].begin, end = top.begin() + forest[whole].end;
        const bool is_alone = *std::max_element(begin, end) == 0;
        for (const auto& [base, leaf] : leaves_of(forest, whole)) {
            if (!is_alone) {
                left.push_back(leaf);
                continue;
            }
            const auto first = top.begin() + piece(leaf).begin, last = top.begin() + piece(leaf).end;
            if (!put(leaf, *std::max_element(first, last), bases)) return std::nullopt;
            std::fill(first, last, bases[static_cast<std::size_t>(leaf)] + piece(leaf).height);
            placed.push_back(leaf);
            work += last - first;
        }
    }
    std::sort(left.begin(), left.end(), largest_first);
    for (const Node leaf : left) {
        if (!put(leaf, lowest_gap(leaf, placed, bases, work), bases)) return std::nullopt;
        placed.push_back(leaf);
    }
    for (Coord& base : bases) base *= unit_;
    return bases;
}

// At the lowest base from there on that suits the block; false: it has none.
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

Coord LeafBlocks::lowest_gap(Node node, const std::vector<Node>& placed, const std::vector<Coord>& bases, std::int64_t& work) const {
    const Piece& leaf = piece(node);
    std::vector<std::pair<Coord, Coord>> taken;
    for (const Node other : placed) {
        const Piece& there = piece(other);
        const Coord base = bases[static_cast<std::size_t>(other)];
        if (there.begin < leaf.end && leaf.begin < there.end) taken.push_back({base, base + there.height});
    }
    work += static_cast<std::int64_t>(placed.size());
    std::sort(taken.begin(), taken.end());
    Coord floor = 0;
    for (const auto& [base, end] : taken) {
        if (base - suitable(static_cast<std::size_t>(node), floor) >= leaf.height) break;
        floor = std::max(floor, end);
    }
    return floor;
}

}  // namespace memplan
