#include "plain/lifting.hpp"

#include <algorithm>
#include <tuple>

namespace memplan {

namespace {

constexpr double kWhole = 1e-6;          // the same numbers stand in solvers/kernels/python/lifting.py
constexpr std::size_t kMostVotes = 1000;  // and in solvers/kernels/votes.py

using Places = std::vector<std::size_t>;

// A crowd that grows: its votes, and how many of them a row has room for.
class Lifting {
public:
    Lifting(const std::vector<Coord>& units, Coord room) : units_(units), room_(room) {}

    void begin(const Places& begun) {
        for (const std::size_t each : begun) take(each, 1);
        most_ = static_cast<std::int64_t>(begun.size()) - 1;
    }

    std::int64_t add(std::size_t each) {
        const Coord left = room_ - units_[each];
        const std::int64_t votes = most_ - (left >= 0 ? votes_in(left) : 0);
        take(each, votes);
        return votes;
    }

    void release(std::size_t each) {
        room_ += units_[each];
        const std::int64_t most = votes_in(room_), votes = most - most_;
        most_ = most;
        take(each, votes);
    }

    Cover done() && {
        least_.erase(least_.begin());
        cover_.least = std::move(least_);
        return std::move(cover_);
    }

private:
    std::int64_t votes_in(Coord room) const { return std::upper_bound(least_.begin(), least_.end(), room) - least_.begin() - 1; }

    void take(std::size_t each, std::int64_t count) {
        const auto more = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
        if (more == 0 || least_.size() + more > kMostVotes) return;
        cover_.votes.emplace_back(static_cast<std::int64_t>(each), count);
        const Coord size = units_[each];
        const std::size_t before = least_.size();
        const Coord all = least_.back() + size;
        least_.resize(before + more, all);
        // From the end on: what stands before is as it was. More votes than all others have need it, and no more than it has need nothing but it.
        for (std::size_t i = before + more - 1; i > 0; --i) {
            const Coord with_it = i > more ? least_[i - more] + size : size;
            least_[i] = std::min(i < before ? least_[i] : all, with_it);
        }
    }

    const std::vector<Coord>& units_;
    Coord room_;
    Cover cover_;
    std::vector<Coord> least_{0};  // from no vote on
    std::int64_t most_ = 0;
};

// The first that have no room together, without those that can be spared.
Places cover_of(const Places& some, const std::vector<Coord>& units, const std::vector<double>& shares, Coord room) {
    Places cover;
    Coord total = 0;
    for (const std::size_t each : some) {
        cover.push_back(each);
        total += units[each];
        if (total > room) break;
    }
    Places order = cover;
    std::ranges::stable_sort(order, {}, [&](std::size_t each) { return std::tuple(shares[each], units[each]); });
    for (const std::size_t each : order) {
        if (total - units[each] > room) {
            cover.erase(std::ranges::find(cover, each));
            total -= units[each];
        }
    }
    return cover;
}

Cover lifted(const Places& cover, const std::vector<Coord>& units, const std::vector<double>& shares, Coord room) {
    Places inside, begun, early, late, absent;
    for (const std::size_t each : cover) (shares[each] > 1 - kWhole ? inside : begun).push_back(each);
    if (begun.size() < 2) inside.clear(), begun = cover;
    Coord left = room;
    for (const std::size_t each : inside) left -= units[each];
    std::vector<bool> is_named(units.size(), false);
    for (const std::size_t each : cover) is_named[each] = true;
    for (std::size_t each = 0; each < units.size(); ++each) {
        if (is_named[each] || units[each] == 0) continue;
        (shares[each] <= kWhole ? absent : units[each] <= left ? early : late).push_back(each);
    }
    const auto by_size = [&](std::size_t each) { return -units[each]; };
    Lifting lifting(units, left);
    lifting.begin(begun);
    std::ranges::stable_sort(early, {}, [&](std::size_t each) { return std::tuple(-shares[each], -units[each]); });
    for (const std::size_t each : early) lifting.add(each);
    std::ranges::stable_sort(inside, {}, by_size);
    for (const std::size_t each : inside) lifting.release(each);
    for (Places* some : {&late, &absent}) {
        std::ranges::stable_sort(*some, {}, by_size);
        for (const std::size_t each : *some) {
            if (lifting.add(each) == 0) break;  // nor has a smaller one a vote
        }
    }
    return std::move(lifting).done();
}

}  // namespace

std::vector<Cover> lifted_covers(const std::vector<Coord>& units, const std::vector<double>& shares, Coord room) {
    Places some;
    Coord total = 0;
    bool is_whole = true;
    for (std::size_t each = 0; each < units.size(); ++each) {
        if (shares[each] <= kWhole || units[each] == 0) continue;
        some.push_back(each);
        total += units[each];
        is_whole &= shares[each] > 1 - kWhole;
    }
    std::vector<Cover> found;
    if (is_whole || total <= room) return found;
    std::vector<Places> known;
    const auto try_in_order = [&](const auto& key) {
        Places order = some;
        std::ranges::stable_sort(order, {}, key);
        const Places cover = cover_of(order, units, shares, room);
        Places named = cover;
        std::ranges::sort(named);
        if (std::ranges::find(known, named) != known.end()) return;
        known.push_back(std::move(named));
        found.push_back(lifted(cover, units, shares, room));
    };
    try_in_order([&](std::size_t each) { return std::tuple((1 - shares[each]) / static_cast<double>(units[each]), -units[each], each); });
    try_in_order([&](std::size_t each) { return std::tuple(-shares[each], -units[each], each); });
    try_in_order([&](std::size_t each) { return std::tuple(shares[each] > 1 - kWhole, -units[each], each); });
    return found;
}

}  // namespace memplan
