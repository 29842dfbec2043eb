#include "shared/blocks.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace memplan {

namespace {

// Counting sort: `key` and `item` are called with 0 .. count - 1; a key of kNone leaves the number out.
template <typename Key, typename Item>
Lists listed(std::size_t keys, std::size_t count, Key key, Item item) {
    Lists lists;
    lists.first.assign(keys + 1, 0);
    for (std::size_t i = 0; i < count; ++i) {
        if (key(i) != kNone) ++lists.first[key(i) + 1];
    }
    std::partial_sum(lists.first.begin(), lists.first.end(), lists.first.begin());
    lists.items.resize(lists.first.back());
    std::vector<Index> next(lists.first.begin(), lists.first.end() - 1);
    for (std::size_t i = 0; i < count; ++i) {
        if (key(i) != kNone) lists.items[next[key(i)]++] = item(i);
    }
    return lists;
}

Index index(Coord value) { return static_cast<Index>(value); }

bool is_solid(const SearchInput& input, Coord part) {
    const auto p = static_cast<std::size_t>(part);
    return input.part_high[p] > input.part_low[p];
}

// Each pair in both directions; pairs within a block or with an empty part are dropped.
Lists partners(const SearchInput& input, std::span<const Coord> pairs) {
    if (pairs.empty()) return {};
    const auto key = [&](std::size_t i) {
        const Coord a = pairs[i], b = pairs[i ^ 1];
        const bool idle = input.part_block[static_cast<std::size_t>(a)] == input.part_block[static_cast<std::size_t>(b)];
        return idle || !is_solid(input, a) || !is_solid(input, b) ? kNone : index(a);
    };
    Lists lists = listed(input.parts(), pairs.size(), key, [&](std::size_t i) { return index(pairs[i ^ 1]); });
    for (std::size_t part = 0; part + 1 < lists.first.size(); ++part) {
        std::sort(lists.items.begin() + lists.first[part], lists.items.begin() + lists.first[part + 1]);
    }
    return lists;
}

// Union-find over blocks; the root is the least member.
class Groups {
public:
    explicit Groups(Index count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), Index{0}); }

    Index root(Index block) {
        while (parent_[block] != block) block = parent_[block] = parent_[parent_[block]];
        return block;
    }
    void join(Index a, Index b) {
        a = root(a), b = root(b);
        if (a != b) parent_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<Index> parent_;
};

}  // namespace

Blocks::Blocks(const SearchInput& given) : input(given), count(static_cast<Index>(given.blocks())) {
    high.assign(count, 0);
    for (std::size_t p = 0; p < input.parts(); ++p) {
        Coord& top = high[static_cast<std::size_t>(input.part_block[p])];
        top = std::max(top, input.part_high[p]);
    }

    const auto block_of = [&](std::size_t rect) { return index(input.part_block[static_cast<std::size_t>(input.rect_part[rect])]); };
    first_rect.assign(std::size_t{count} + 1, 0);
    for (std::size_t r = 0; r < input.rects(); ++r) {
        if (is_solid(input, input.rect_part[r])) ++first_rect[block_of(r) + 1];
    }
    std::partial_sum(first_rect.begin(), first_rect.end(), first_rect.begin());
    rects.resize(first_rect.back());
    {
        std::vector<Index> next(first_rect.begin(), first_rect.end() - 1);
        for (std::size_t r = 0; r < input.rects(); ++r) {
            const auto part = static_cast<std::size_t>(input.rect_part[r]);
            if (!is_solid(input, input.rect_part[r])) continue;
            rects[next[block_of(r)]++] = {input.part_low[part], input.part_high[part], index(input.rect_start[r]),
                                          index(input.rect_end[r]), index(input.rect_part[r])};
        }
    }

    foes = partners(input, input.conflicts);
    friends = partners(input, input.exclusions);
    for (std::size_t i = 0; i < input.reserved.size(); i += 2) {
        if (input.reserved[i] < input.reserved[i + 1]) walls.push_back({input.reserved[i], input.reserved[i + 1]});
    }
    std::sort(walls.begin(), walls.end(), [](const Interval& a, const Interval& b) { return a.low < b.low; });
    if (!walls.empty() || !foes.empty()) {
        const auto owner = [&](std::size_t p) { return is_solid(input, static_cast<Coord>(p)) ? index(input.part_block[p]) : kNone; };
        solid_parts = listed(count, input.parts(), owner, [](std::size_t p) { return static_cast<Index>(p); });
    }

    // Blocks on both sides of a section boundary are connected if a rect lives across it; one block represents each section.
    Groups groups(count);
    const auto sections = static_cast<std::size_t>(input.sections);
    std::vector<Index> reach(sections + 1, 0), starter(sections + 1, kNone);
    for (std::size_t r = 0; r < input.rects(); ++r) {
        const auto start = static_cast<std::size_t>(input.rect_start[r]);
        if (starter[start] == kNone) starter[start] = block_of(r);
        groups.join(starter[start], block_of(r));
        reach[start] = std::max(reach[start], index(input.rect_end[r]));
    }
    Index until = 0, holder = kNone;
    for (std::size_t s = 0; s < sections; ++s) {
        if (starter[s] == kNone) continue;
        if (s < until) groups.join(holder, starter[s]);
        holder = starter[s];
        until = std::max(until, reach[s]);
    }
    for (std::size_t i = 0; i + 1 < input.conflicts.size(); i += 2) {
        groups.join(index(input.part_block[static_cast<std::size_t>(input.conflicts[i])]),
                    index(input.part_block[static_cast<std::size_t>(input.conflicts[i + 1])]));
    }
    component.resize(count);
    for (Index block = 0; block < count; ++block) {
        const Index root = groups.root(block);
        component[block] = root == block ? components++ : component[root];
    }
}

}  // namespace memplan
