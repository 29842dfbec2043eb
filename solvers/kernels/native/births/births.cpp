#include "births/births.hpp"

#include <bit>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "births/room.hpp"

namespace memplan {

namespace {

constexpr std::size_t kLookEvery = 256;
constexpr std::int64_t kCheckEvery = 256;
constexpr std::size_t kMostTrees = 16;
constexpr Coord kEnds = kAddressLimit;

std::span<const Coord> row(std::span<const Coord> values, std::span<const Coord> begin, std::size_t i) {
    return values.subspan(static_cast<std::size_t>(begin[i]), static_cast<std::size_t>(begin[i + 1] - begin[i]));
}

// A search tree of widest free ranges over a list of pools: finds the next pool that may have room.
class Tree {
   public:
    explicit Tree(std::size_t count) : count_(count), leaves_(std::bit_ceil(std::max<std::size_t>(count, 1))), tree_(2 * leaves_, 0) {}

    void set(std::size_t place, Coord widest) { tree_[place + leaves_] = widest; }

    void build() {
        for (std::size_t node = leaves_ - 1; node > 0; --node) tree_[node] = std::max(tree_[2 * node], tree_[2 * node + 1]);
    }

    void update(std::size_t place, Coord widest) {
        std::size_t node = place + leaves_;
        tree_[node] = widest;
        while (node > 1) {
            node >>= 1;
            const Coord most = std::max(tree_[2 * node], tree_[2 * node + 1]);
            if (tree_[node] == most) return;
            tree_[node] = most;
        }
    }

    // The first index from `start` on whose pool may have room; the length of the list if there is none.
    std::size_t following(std::size_t start, Coord height) const {
        if (start >= count_) return count_;
        std::size_t node = start + leaves_;
        while (tree_[node] < height) {
            while (node & 1) node >>= 1;  // climb from right children
            if (!node) return count_;
            ++node;
        }
        while (node < leaves_) {
            node *= 2;
            if (tree_[node] < height) ++node;
        }
        return std::min(node - leaves_, count_);
    }

   private:
    std::size_t count_, leaves_;
    std::vector<Coord> tree_;
};

class Run {
   public:
    Run(const BirthInput& input, const BirthLimits& limits) : in_(input), limits_(limits), next_look_(limits.tries) {
        std::size_t at = 0;
        rooms_.reserve(in_.pools());
        for (std::size_t p = 0; p < in_.pools(); ++p) {
            const std::size_t first = at;
            while (at < in_.taken.size() && static_cast<std::size_t>(in_.taken[at]) == p) at += 3;
            rooms_.emplace_back(in_.end[p], in_.taken.subspan(first, at - first));
            is_fresh_.push_back(in_.entered[p] == 0);
        }
        choose_trees();
        result_.pool.assign(in_.units(), -1), result_.base.assign(in_.groups(), 0);
    }

    BirthPlan all() {
        struct Later {
            bool operator()(const std::pair<Coord, std::size_t>& a, const std::pair<Coord, std::size_t>& b) const { return a > b; }
        };
        std::priority_queue<std::pair<Coord, std::size_t>, std::vector<std::pair<Coord, std::size_t>>, Later> ends;
        for (std::size_t unit = 0; unit < in_.units(); ++unit) {
            if (unit % kLookEvery == 0) limits_.ask(false);
            while (!ends.empty() && ends.top().first <= in_.birth[unit]) {
                leave(ends.top().second);
                ends.pop();
            }
            if (!place(unit)) return {};
            ends.emplace(in_.death[unit], unit);
        }
        result_.complete = true;
        return std::move(result_);
    }

   private:
    // The most used lists get trees; the others are scanned.
    void choose_trees() {
        std::vector<std::size_t> users(in_.lists() + 1, 0), order(in_.lists() + 1);
        for (const Coord list : in_.listed) ++users[static_cast<std::size_t>(list)];
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return users[a] > users[b]; });
        tree_of_.assign(order.size(), -1), begin_fresh_.assign(order.size(), 0);
        for (const std::size_t list : order) {
            if (users[list] < 2 || trees_.size() == kMostTrees) break;
            Tree tree(length(list));
            std::vector<std::int32_t> place(list == 0 ? 0 : in_.pools(), -1);
            for (std::size_t i = 0; i < length(list); ++i) {
                if (list != 0) place[pool_at(list, i)] = static_cast<std::int32_t>(i);
                tree.set(i, rooms_[pool_at(list, i)].widest);
            }
            tree.build();
            tree_of_[list] = static_cast<int>(trees_.size());
            trees_.push_back(std::move(tree)), places_.push_back(std::move(place));
        }
    }

    std::size_t length(std::size_t list) const {
        return list == 0 ? in_.pools() : static_cast<std::size_t>(in_.list_begin[list] - in_.list_begin[list - 1]);
    }

    std::size_t pool_at(std::size_t list, std::size_t place) const {
        return list == 0 ? place : static_cast<std::size_t>(in_.list_pools[static_cast<std::size_t>(in_.list_begin[list - 1]) + place]);
    }

    std::size_t next_with_room(std::size_t list, std::size_t start, Coord height) const {
        if (tree_of_[list] >= 0) return trees_[static_cast<std::size_t>(tree_of_[list])].following(start, height);
        while (start < length(list) && rooms_[pool_at(list, start)].widest < height) ++start;
        return start;
    }

    void tell(std::size_t pool) {
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            if (places_[t].empty()) {
                trees_[t].update(pool, rooms_[pool].widest);
            } else if (places_[t][pool] >= 0) {
                trees_[t].update(static_cast<std::size_t>(places_[t][pool]), rooms_[pool].widest);
            }
        }
    }

    bool is_used(std::size_t pool, std::span<const Coord> sets) const {
        for (const Coord set : sets) {
            if (used_.contains(key(set, pool))) return true;
        }
        return false;
    }

    std::uint64_t key(Coord set, std::size_t other) const { return static_cast<std::uint64_t>(set) << 32 | other; }

    // The set's units occupy all pools of the list before this index.
    std::size_t beyond_used(Coord set, std::size_t list) {
        std::size_t& at = first_[key(set, list)];
        while (at < length(list) && used_.contains(key(set, pool_at(list, at)))) ++at;
        return at;
    }

    bool place(std::size_t unit) {
        const auto sets = row(in_.sets, in_.set_begin, unit);
        const auto list = static_cast<std::size_t>(in_.listed[unit]);
        if (is_late_) return place_late(unit, sets, list);
        Coord height = 0;
        for (auto g = static_cast<std::size_t>(in_.group_begin[unit]); g < static_cast<std::size_t>(in_.group_begin[unit + 1]); ++g) {
            if (in_.fixed[g] < 0) height = std::max(height, in_.height[g]);
        }
        std::size_t start = 0;
        for (const Coord set : sets) start = std::max(start, beyond_used(set, list));
        for (std::size_t at = start; (at = next_with_room(list, at, height)) < length(list); ++at) {
            if (tries_ > next_look_) {
                next_look_ = tries_ + kCheckEvery;
                const Hurry hurry = limits_.ask(true);
                if (hurry == Hurry::kGiveUp) return false;
                if (hurry == Hurry::kLate) {
                    is_late_ = true;
                    return place_late(unit, sets, list);
                }
            }
            if (goes_into(unit, pool_at(list, at), sets)) return true;
        }
        return false;
    }

    // Tries only the first unused pools.
    bool place_late(std::size_t unit, std::span<const Coord> sets, std::size_t list) {
        std::size_t& fresh = begin_fresh_[list];
        while (fresh < length(list) && !is_fresh_[pool_at(list, fresh)]) ++fresh;
        const std::size_t last = std::min(length(list), fresh + static_cast<std::size_t>(limits_.late_tries));
        for (std::size_t at = fresh; at < last; ++at) {
            const std::size_t pool = pool_at(list, at);
            if (is_fresh_[pool] && goes_into(unit, pool, sets)) return true;
        }
        return false;
    }

    bool goes_into(std::size_t unit, std::size_t pool, std::span<const Coord> sets) {
        const auto first = static_cast<std::size_t>(in_.group_begin[unit]), last = static_cast<std::size_t>(in_.group_begin[unit + 1]);
        bool fits = !is_used(pool, sets);
        if (fits) {
            std::size_t g = first;
            while (g < last && lies(g, pool)) ++g;
            fits = g == last;
            if (!fits) free_groups(first, g, pool);
            tell(pool);
        }
        if (!fits) {
            tries_ += static_cast<std::int64_t>(last - first);
            return false;
        }
        for (const Coord set : sets) used_.insert(key(set, pool));
        is_fresh_[pool] = false;
        result_.pool[unit] = static_cast<Coord>(pool);
        return true;
    }

    bool lies(std::size_t g, std::size_t pool) {
        if (in_.fixed[g] >= 0) {  // its range was never free
            result_.base[g] = in_.fixed[g];
            return true;
        }
        const std::optional<Rule> rule = rule_of(g, pool);
        if (!rule) return false;
        Coord base;
        if (in_.height[g] == 0) {
            const Wide least = rule->at_least(0);
            base = least <= in_.most[g] && least <= in_.end[pool] ? static_cast<Coord>(least) : -1;
        } else {
            base = rooms_[pool].base({in_.height[g], in_.most[g], *rule});
        }
        if (base < 0) return false;
        result_.base[g] = base;
        if (in_.height[g]) rooms_[pool].take(base, base + in_.height[g]);
        return true;
    }

    // The bases at which all members of the group are aligned in this pool; none if there are none.
    std::optional<Rule> rule_of(std::size_t g, std::size_t pool) const {
        const Coord wanted = in_.alignment[pool];
        if (in_.stride[g] % wanted) return {};
        Wide modulus = in_.modulus[g], place = in_.residue[g];
        if (modulus == 0) {  // a single base
            if (place % wanted || place < in_.base[pool]) return {};
            return Rule{Wide{1} << 100, place - in_.base[pool]};
        }
        if (modulus % wanted) {
            const Coord common = std::gcd(in_.modulus[g], wanted);
            if (place % common) return {};
            // place + modulus * t is a multiple of the pool's alignment.
            const Wide step = wanted / common;
            const Wide t = (step - place / common % step) % step * inverse(modulus / common % step, step) % step;
            place += modulus * t, modulus *= step;
        } else if (place % wanted) {
            return {};
        }
        return Rule{modulus, (place - in_.base[pool] % modulus + modulus) % modulus};
    }

    static Wide inverse(Wide a, Wide modulus) {
        Wide r = modulus, next = a, t = 0, s = 1;
        while (next != 0) {
            const Wide q = r / next;
            r -= q * next, std::swap(r, next);
            t -= q * s, std::swap(t, s);
        }
        return t < 0 ? t + modulus : t;
    }

    void free_groups(std::size_t first, std::size_t last, std::size_t pool) {
        for (std::size_t g = first; g < last; ++g) {
            if (in_.fixed[g] < 0 && in_.height[g]) rooms_[pool].give_back(result_.base[g], result_.base[g] + in_.height[g]);
        }
    }

    void leave(std::size_t unit) {
        const auto pool = static_cast<std::size_t>(result_.pool[unit]);
        free_groups(static_cast<std::size_t>(in_.group_begin[unit]), static_cast<std::size_t>(in_.group_begin[unit + 1]), pool);
        tell(pool);
    }

    const BirthInput& in_;
    const BirthLimits& limits_;
    std::vector<Room> rooms_;
    std::vector<bool> is_fresh_;  // true for pools that hold no block yet
    std::vector<int> tree_of_;    // by list; -1: it has no tree
    std::vector<Tree> trees_;
    std::vector<std::vector<std::int32_t>> places_;  // by tree: each pool's index in its list; empty for the list of all pools
    std::vector<std::size_t> begin_fresh_;           // by list: all pools before this index are used
    std::unordered_set<std::uint64_t> used_;         // (set, pool)
    std::unordered_map<std::uint64_t, std::size_t> first_;  // (set, list): the set's units occupy all pools before this index
    std::int64_t tries_ = 0, next_look_;
    bool is_late_ = false;
    BirthPlan result_;
};

void demand(bool holds, const char* what) {
    if (!holds) throw BadInput(what);
}

void check_rows(std::span<const Coord> begin, std::size_t rows, std::size_t values) {
    demand(begin.size() == rows + 1 && begin.front() == 0 && static_cast<std::size_t>(begin.back()) == values, "rows end where values end");
    for (std::size_t i = 0; i < rows; ++i) demand(begin[i] <= begin[i + 1], "rows are in order");
}

void check_all(std::span<const Coord> values, Coord least, Coord most, const char* what) {
    for (const Coord value : values) demand(value >= least && value <= most, what);
}

void check(const BirthInput& in) {
    const std::size_t pools = in.pools(), units = in.units(), groups = in.groups();
    const auto last_pool = static_cast<Coord>(pools) - 1;
    demand(pools < std::size_t{1} << 31 && units < std::size_t{1} << 31, "too many pools or units");
    demand(in.alignment.size() == pools && in.base.size() == pools && in.entered.size() == pools, "one row a pool");
    demand(in.death.size() == units && in.listed.size() == units, "one row a unit");
    for (const auto& column : {in.modulus, in.residue, in.stride, in.most, in.fixed}) demand(column.size() == groups, "one row a group");
    demand(!in.list_begin.empty(), "rows end where values end");
    check_rows(in.group_begin, units, groups);
    check_rows(in.set_begin, units, in.sets.size());
    check_rows(in.list_begin, in.list_begin.size() - 1, in.list_pools.size());
    check_all(in.end, 0, kEnds, "an end is an address");
    check_all(in.base, 0, kEnds, "a base is an address");
    check_all(in.alignment, 1, kEnds, "an alignment is positive");
    check_all(in.modulus, 0, kEnds, "a modulus is not negative");
    check_all(in.height, 0, kEnds, "a height is a size");
    check_all(in.most, -1, kEnds, "a greatest base is an address");
    check_all(in.fixed, -1, kEnds, "a fixed base is an address");
    check_all(in.stride, 0, kEnds, "a stride is a distance");
    check_all(in.listed, 0, static_cast<Coord>(in.lists()), "a unit has a list");
    check_all(in.list_pools, 0, last_pool, "a list is of pools");
    check_all(in.sets, 0, (Coord{1} << 31) - 1, "too many sets");
    for (std::size_t g = 0; g < groups; ++g) demand(in.residue[g] >= 0 && (in.modulus[g] == 0 || in.residue[g] < in.modulus[g]), "a residue is below its modulus");
    demand(in.taken.size() % 3 == 0, "taken ranges are triples");
    for (std::size_t i = 0; i < in.taken.size(); i += 3) {
        demand(in.taken[i] >= 0 && in.taken[i] <= last_pool && in.taken[i + 1] >= 0 && in.taken[i + 1] <= in.taken[i + 2] && in.taken[i + 2] <= kEnds, "a taken range is of addresses");
        demand(i == 0 || in.taken[i - 3] <= in.taken[i], "taken ranges are in the order of their pools");
    }
}

}  // namespace

BirthPlan place_by_birth(const BirthInput& input, const BirthLimits& limits) {
    check(input);
    return Run(input, limits).all();
}

}  // namespace memplan
