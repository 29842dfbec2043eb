// Sets of blocks that pairwise conflict, so that their sizes add up: one for each moment that matters (several with exclusions), and some for
// conflicts that do not come from time.
#include <algorithm>
#include <limits>
#include <numeric>

#include "search/building/model.hpp"

namespace memplan {

namespace {

struct Member {
    int block;
    Extent extent;
};

class CliqueBuilder {
  public:
    CliqueBuilder(Model& model, const SearchInput& input, const PartView& view, std::size_t most, Patience& patience)
        : most_(most), model_(model), input_(input), view_(view), patience_(patience), hull_(model.blocks(), {std::numeric_limits<int>::max(), -1}) {}

    void add_sections() {
        std::vector<Event> events;
        for (std::size_t r = 0; r < input_.rects(); ++r) {
            const int p = static_cast<int>(input_.rect_part[r]);
            if (input_.part_high[p] <= input_.part_low[p]) continue;
            events.push_back({input_.rect_start[r], true, p});
            events.push_back({input_.rect_end[r], false, p});
        }
        std::sort(events.begin(), events.end());
        std::vector<int> live, place(input_.parts()), times(input_.parts(), 0);
        bool grown = false;
        for (const Event& event : events) {
            const int p = event.what;
            if (event.begins) {
                if (times[p]++ > 0) continue;
                place[p] = static_cast<int>(live.size());
                live.push_back(p);
                grown = true;
                continue;
            }
            if (--times[p] > 0) continue;
            // A moment just before something ends is covered by no other if something began since the last one.
            if (grown) add_moment(live);
            grown = false;
            live[place[p]] = live.back();
            place[live.back()] = place[p];
            live.pop_back();
        }
    }

    // Adds a clique for each explicit conflict, grown by the parts that conflict with all its members, which improves the bounds.
    void add_conflicts() {
        if (view_.conflicts.empty()) return;
        std::vector<std::vector<int>> near(input_.parts());
        for (const auto& [p, q] : view_.conflicts) near[p].push_back(q), near[q].push_back(p);
        for (auto& row : near) std::sort(row.begin(), row.end());
        const auto length = [&](int p) { return input_.part_high[p] - input_.part_low[p]; };
        const auto movable = [&](int p) { return length(p) > 0 ? view_.movable[input_.part_block[p]] : -1; };
        std::vector<std::pair<int, int>> open;
        for (const auto& pair : view_.conflicts) {
            const int j = movable(pair.first), k = movable(pair.second);
            if (j >= 0 && k >= 0 && j != k) open.push_back(pair);
        }
        std::vector<std::pair<int, int>> covered;
        std::size_t effort = 0;
        for (const auto& [p, q] : open) {
            if (std::binary_search(covered.begin(), covered.end(), std::pair(p, q))) continue;
            std::vector<int> members{p, q}, common;
            if (effort < kCliqueEffort) {
                std::set_intersection(near[p].begin(), near[p].end(), near[q].begin(), near[q].end(), std::back_inserter(common));
                std::sort(common.begin(), common.end(), [&](int a, int b) {
                    return length(a) != length(b) ? length(a) > length(b) : a < b;
                });
                for (const int c : common) {
                    const bool joins = movable(c) >= 0 && std::all_of(members.begin(), members.end(), [&](int m) {
                        return movable(m) != movable(c) && std::binary_search(near[m].begin(), near[m].end(), c);
                    });
                    effort += members.size();
                    patience_.spend(members.size());
                    if (joins) members.push_back(c);
                }
            }
            const std::size_t before = covered.size();
            for (std::size_t a = 0; a < members.size(); ++a) {
                for (std::size_t b = a + 1; b < members.size(); ++b) {
                    covered.emplace_back(std::min(members[a], members[b]), std::max(members[a], members[b]));
                }
            }
            std::sort(covered.begin() + static_cast<std::ptrdiff_t>(before), covered.end());
            std::inplace_merge(covered.begin(), covered.begin() + static_cast<std::ptrdiff_t>(before), covered.end());
            std::vector<Member> clique;
            for (const int m : members) clique.push_back({movable(m), extent_of({m})});
            std::vector<Range> obstacles = reserved();
            close_clique(clique, obstacles);
        }
    }

    void finish() {
        const int n = model_.blocks(), cliques = model_.cliques();
        for (int j = 0; j < n; ++j) {
            model_.first_clique.push_back(hull_[j].first);
            model_.last_clique.push_back(hull_[j].second);
        }
        if (model_.plain) return;  // the hull of cliques is enough
        model_.entry_clique.resize(model_.clique.values.size());
        std::vector<int> count(n + 1, 0);
        for (const int j : model_.clique.values) ++count[j + 1];
        std::partial_sum(count.begin(), count.end(), count.begin());
        model_.entries.start = count;
        model_.entries.values.resize(model_.clique.values.size());
        for (int c = 0; c < cliques; ++c) {
            for (int e = model_.clique.begin(c); e < model_.clique.end(c); ++e) {
                model_.entry_clique[e] = c;
                model_.entries.values[count[model_.clique.values[e]]++] = e;
            }
        }
    }

  private:
    static constexpr const char* kTooMuch = "too many blocks are live together for too long";
    static constexpr std::size_t kCliqueEffort = 20'000'000;

    Coord up(Coord address) const { return ceil_div(address, model_.unit); }

    std::vector<Range> reserved() const {
        std::vector<Range> ranges;
        for (std::size_t r = 0; r + 1 < input_.reserved.size(); r += 2) {
            ranges.push_back({up(input_.reserved[r] - model_.origin), up(input_.reserved[r + 1] - model_.origin)});
        }
        return ranges;
    }

    // Parts of one block may overlap: their union counts.
    Extent extent_of(std::vector<int> parts) const {
        std::sort(parts.begin(), parts.end(), [&](int a, int b) { return input_.part_low[a] < input_.part_low[b]; });
        Extent extent{up(input_.part_low[parts[0]]), 0, 0, 0};
        Coord end = extent.bottom;
        bool unbroken = true;
        for (const int p : parts) {
            const Coord low = up(input_.part_low[p]), high = up(input_.part_high[p]);
            if (low > end) unbroken = false;
            extent.height += std::max<Coord>(0, high - std::max(low, end));
            end = std::max(end, high);
            if (unbroken) extent.solid = end - extent.bottom;
        }
        extent.top = end;
        return extent;
    }

    void add_moment(const std::vector<int>& live_parts) {
        patience_.spend(live_parts.size());
        if (model_.plain && add_plain_moment(live_parts)) return;
        std::vector<int> live = live_parts;
        std::sort(live.begin(), live.end(), [&](int a, int b) {
            return std::pair(input_.part_block[a], a) < std::pair(input_.part_block[b], b);
        });
        std::vector<Range> obstacles = reserved();
        std::vector<std::vector<int>> groups;  // live parts, grouped by movable block
        for (const int p : live) {
            const int b = static_cast<int>(input_.part_block[p]);
            if (view_.movable[b] < 0) {
                const Coord at = input_.lowest[b] - model_.origin;
                // A part excluded from the fixed block may share its addresses: then it is no obstacle.
                const bool shared = std::any_of(live.begin(), live.end(), [&](int q) { return view_.is_excluded(p, q); });
                if (!shared) obstacles.push_back({up(at + input_.part_low[p]), up(at + input_.part_high[p])});
            } else if (!groups.empty() && input_.part_block[groups.back()[0]] == b) {
                groups.back().push_back(p);
            } else {
                groups.push_back({p});
            }
        }
        if (groups.empty()) return;
        const int first = model_.cliques();
        for (auto& chosen : conflicting(groups)) {
            std::vector<Member> clique;
            for (const int g : chosen) {
                clique.push_back({view_.movable[input_.part_block[groups[g][0]]], extent_of(groups[g])});
            }
            close_clique(clique, obstacles);
        }
        // The hull of each live block covers all cliques of the moment: excluded pairs need not share one.
        for (const auto& group : groups) {
            auto& [from, to] = hull_[view_.movable[input_.part_block[group[0]]]];
            from = std::min(from, first);
            to = model_.cliques() - 1;
        }
    }

    // As add_moment where every block is one rect, fast enough for large instances; false if a fixed block is live.
    bool add_plain_moment(const std::vector<int>& live) {
        const auto block = [&](int p) { return view_.movable[input_.part_block[p]]; };
        if (!input_.reserved.empty() || std::any_of(live.begin(), live.end(), [&](int p) { return block(p) < 0; })) return false;
        const int c = model_.cliques();
        if (model_.clique.values.size() + live.size() > most_) throw TooLarge(kTooMuch);
        for (const int p : live) {
            model_.clique.values.push_back(block(p));
            auto& [from, to] = hull_[block(p)];
            from = std::min(from, c);
            to = c;
        }
        model_.clique.close_row();
        model_.obstacles.close_row();
        return true;
    }

    // Splits the live groups into sets without exclusions. Every group is in at least one; the largest are chosen first.
    std::vector<std::vector<int>> conflicting(const std::vector<std::vector<int>>& groups) const {
        std::vector<int> order(groups.size());
        std::iota(order.begin(), order.end(), 0);
        if (view_.excluded.empty()) return {order};
        std::vector<Coord> height(groups.size());
        for (std::size_t g = 0; g < groups.size(); ++g) height[g] = extent_of(groups[g]).height;
        std::sort(order.begin(), order.end(), [&](int a, int b) {
            return height[a] != height[b] ? height[a] > height[b] : a < b;
        });
        const auto compatible = [&](int a, int b) {
            for (const int p : groups[a]) {
                for (const int q : groups[b]) {
                    if (view_.is_excluded(p, q)) return false;
                }
            }
            return true;
        };
        std::vector<std::vector<int>> sets;
        std::vector<char> served(groups.size(), 0);
        for (const int seed : order) {
            if (served[seed]) continue;
            patience_.spend(order.size());
            std::vector<int> chosen{seed};
            for (const int g : order) {
                if (g != seed && std::all_of(chosen.begin(), chosen.end(), [&](int c) { return compatible(c, g); })) {
                    chosen.push_back(g);
                }
            }
            for (const int g : chosen) served[g] = 1;
            sets.push_back(std::move(chosen));
        }
        return sets;
    }

    void close_clique(const std::vector<Member>& members, std::vector<Range> obstacles) {
        const int c = model_.cliques();
        for (const Member& member : members) {
            model_.clique.values.push_back(member.block);
            if (!model_.plain) model_.extent.push_back(member.extent);
            auto& [from, to] = hull_[member.block];
            from = std::min(from, c);
            to = std::max(to, c);
        }
        if (model_.clique.values.size() > most_) throw TooLarge(kTooMuch);
        model_.clique.close_row();
        std::sort(obstacles.begin(), obstacles.end(), [](Range a, Range b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
        const std::size_t row = model_.obstacles.values.size();
        for (const Range& range : obstacles) {
            if (range.from >= range.to) continue;
            if (model_.obstacles.values.size() > row && range.from <= model_.obstacles.values.back().to) {
                model_.obstacles.values.back().to = std::max(model_.obstacles.values.back().to, range.to);
            } else {
                model_.obstacles.values.push_back(range);
            }
        }
        model_.obstacles.close_row();
    }

    const std::size_t most_;
    Model& model_;
    const SearchInput& input_;
    const PartView& view_;
    Patience& patience_;
    std::vector<std::pair<int, int>> hull_;
};

}  // namespace

void add_cliques(Model& model, const SearchInput& input, const PartView& view, std::size_t most, Patience& patience) {
    CliqueBuilder builder(model, input, view, most, patience);
    builder.add_sections();
    builder.add_conflicts();
    builder.finish();
}

}  // namespace memplan
