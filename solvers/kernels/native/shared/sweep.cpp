#include "shared/sweep.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

namespace {

constexpr std::int64_t total_limit = std::int64_t{1} << 62;

using Rank = std::uint32_t;

// A set of ranks below a fixed number that finds the next and the previous member: one bit for each, and level upon level one bit for every 64 below,
// set if any of them is.
class RankSet {
   public:
    explicit RankSet(std::size_t size) {
        do {
            size = size / 64 + 1;
            levels_.emplace_back(size, 0);
        } while (size > 1);
    }

    void add(Rank rank) {
        for (auto& level : levels_) {
            level[rank / 64] |= std::uint64_t{1} << rank % 64;
            rank /= 64;
        }
    }

    void remove(Rank rank) {
        for (auto& level : levels_) {
            if (level[rank / 64] &= ~(std::uint64_t{1} << rank % 64)) {
                return;
            }
            rank /= 64;
        }
    }

    // The greatest member below the rank.
    std::optional<Rank> before(Rank rank) const {
        for (std::size_t up = 0; up < levels_.size(); ++up, rank /= 64) {
            const std::uint64_t below = levels_[up][rank / 64] & ((std::uint64_t{1} << rank % 64) - 1);
            if (below) {
                rank = rank / 64 * 64 + 63 - static_cast<Rank>(std::countl_zero(below));
                while (up-- > 0) {
                    rank = rank * 64 + 63 - static_cast<Rank>(std::countl_zero(levels_[up][rank]));
                }
                return rank;
            }
        }
        return std::nullopt;
    }

    // The least member above the rank.
    std::optional<Rank> after(Rank rank) const {
        for (std::size_t up = 0; up < levels_.size(); ++up, rank /= 64) {
            const std::uint64_t above = levels_[up][rank / 64] & (~std::uint64_t{1} << rank % 64);
            if (above) {
                rank = rank / 64 * 64 + static_cast<Rank>(std::countr_zero(above));
                while (up-- > 0) {
                    rank = rank * 64 + static_cast<Rank>(std::countr_zero(levels_[up][rank]));
                }
                return rank;
            }
        }
        return std::nullopt;
    }

   private:
    std::vector<std::vector<std::uint64_t>> levels_;
};

struct Used {
    std::int64_t pool, low, high, start, end;
};

// The indices of the items, sorted by key.
template <typename Key>
std::vector<Rank> in_order(const std::vector<Used>& items, Key key) {
    std::vector<std::pair<std::int64_t, Rank>> keyed;
    keyed.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        keyed.emplace_back(key(items[i]), static_cast<Rank>(i));
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<Rank> order;
    order.reserve(keyed.size());
    for (const auto& [_, i] : keyed) {
        order.push_back(i);
    }
    return order;
}

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
    // change[s] is the rise of the live sum at section s; all partial sums stay within the total.
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

bool apart(Column starts, Column ends, Column pools, Column lows, Column highs) {
    const std::size_t count = starts.size;
    if (ends.size != count || pools.size != count || lows.size != count || highs.size != count) {
        throw BadInput("starts, ends, pools, lows and highs differ in length");
    }
    if (count > std::numeric_limits<Rank>::max()) {
        throw BadInput("there are too many rects");
    }
    std::vector<Used> used;
    used.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (starts[i] < ends[i] && lows[i] < highs[i]) {
            used.push_back({pools[i], lows[i], highs[i], starts[i], ends[i]});
        }
    }
    std::sort(used.begin(), used.end(),
              [](const Used& a, const Used& b) { return std::tie(a.pool, a.low) < std::tie(b.pool, b.low); });
    const std::vector<Rank> beginning = in_order(used, [](const Used& u) { return u.start; });
    const std::vector<Rank> ending = in_order(used, [](const Used& u) { return u.end; });
    // As long as nothing overlaps, a new rect can only overlap the next live one above or below it.
    RankSet live(used.size());
    std::size_t done = 0;
    for (const Rank rank : beginning) {
        const Used& mine = used[rank];
        while (used[ending[done]].end <= mine.start) {
            live.remove(ending[done++]);
        }
        const std::optional<Rank> below = live.before(rank), above = live.after(rank);
        if (below && used[*below].pool == mine.pool && used[*below].high > mine.low) {
            return false;
        }
        if (above && used[*above].pool == mine.pool && used[*above].low < mine.high) {
            return false;
        }
        live.add(rank);
    }
    return true;
}

}  // namespace memplan
