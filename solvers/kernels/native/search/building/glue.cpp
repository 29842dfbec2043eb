#include "search/building/glue.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace memplan {

namespace {

struct Piece {
    int first, last;  // cliques
    Coord size, height, modulus, residue, lowest, highest, lifetime;
    std::vector<std::pair<int, Coord>> members;

    bool free() const { return last < 0; }
    bool alike(const Piece& other) const {
        return modulus == other.modulus && residue == other.residue && lowest == other.lowest;
    }
};

class Gluer {
  public:
    Gluer(const Model& model, bool chains) : m_(model), chains_(chains), clique_(model.cliques()) {
        std::iota(clique_.begin(), clique_.end(), 0);
        for (int j = 0; j < m_.blocks(); ++j) {
            pieces_.push_back({m_.first_clique[j], m_.last_clique[j], m_.size[j], m_.height[j], m_.modulus[j], m_.residue[j],
                               m_.lowest[j], m_.highest[j], m_.lifetime[j], {{j, 0}}});
        }
    }

    std::optional<Glued> run() {
        for (std::size_t before = 0; before != pieces_.size();) {
            before = pieces_.size();
            stack();
            if (chains_) chain();
            drop_cliques();
        }
        if (pieces_.size() == static_cast<std::size_t>(m_.blocks())) return std::nullopt;
        return build();
    }

  private:
    // Stacks pieces of the same lifetime and alignment; the one with the most unused room in its last unit comes on top.
    void stack() {
        const auto key = [&](const Piece& p) {
            return std::tuple(p.first, p.last, p.modulus, p.residue, p.lowest, m_.unit * p.size - p.height, p.members[0].first);
        };
        std::sort(pieces_.begin(), pieces_.end(), [&](const Piece& a, const Piece& b) { return key(a) < key(b); });
        std::vector<Piece> stacked;
        for (Piece& piece : pieces_) {
            if (stacked.empty() || piece.free() || !put_on(stacked.back(), piece)) stacked.push_back(std::move(piece));
        }
        pieces_ = std::move(stacked);
    }

    bool put_on(Piece& low, const Piece& top) const {
        if (low.first != top.first || low.last != top.last || !low.alike(top) || low.size % low.modulus != 0) return false;
        const Coord highest = std::min(low.highest, top.highest - low.size);
        if (highest < low.lowest) return false;
        low.highest = highest;
        low.height = std::max(low.height, m_.unit * low.size + top.height);
        low.lifetime = std::max(low.lifetime, top.lifetime);
        for (const auto& [block, at] : top.members) low.members.emplace_back(block, low.size + at);
        low.size += top.size;
        return true;
    }

    // Chains pieces in the order of their beginning, each followed by the first that can come next.
    void chain() {
        const auto key = [](const Piece& p) { return std::tuple(p.first, p.size, p.members[0].first); };
        std::sort(pieces_.begin(), pieces_.end(), [&](const Piece& a, const Piece& b) { return key(a) < key(b); });
        std::vector<char> taken(pieces_.size(), 0);
        std::vector<Piece> chained;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            if (taken[i]) continue;
            Piece piece = std::move(pieces_[i]);
            while (!piece.free()) {
                const std::size_t next = successor(piece, taken);
                if (next == pieces_.size()) break;
                taken[next] = 1;
                const Piece& more = pieces_[next];
                piece.last = more.last;
                piece.highest = std::min(piece.highest, more.highest);
                piece.height = std::max(piece.height, more.height);
                piece.lifetime += more.lifetime;
                piece.members.insert(piece.members.end(), more.members.begin(), more.members.end());
            }
            chained.push_back(std::move(piece));
        }
        pieces_ = std::move(chained);
    }

    // The first free piece of the same size that begins where this one ends; the number of all pieces if there is none.
    std::size_t successor(const Piece& piece, const std::vector<char>& taken) const {
        const std::pair wanted(piece.last + 1, piece.size);
        const auto key = [](const Piece& p) { return std::pair(p.first, p.size); };
        auto next = std::lower_bound(pieces_.begin(), pieces_.end(), wanted, [&](const Piece& p, const auto& w) { return key(p) < w; });
        for (; next != pieces_.end() && key(*next) == wanted; ++next) {
            const auto number = static_cast<std::size_t>(next - pieces_.begin());
            if (!taken[number] && piece.alike(*next)) return number;
        }
        return pieces_.size();
    }

    // Keeps only cliques in which something ends and something has begun since the last kept one; others add no constraint.
    void drop_cliques() {
        const int n = static_cast<int>(clique_.size());
        std::vector<char> begins(n, 0), ends(n, 0);
        for (const Piece& piece : pieces_) {
            if (!piece.free()) begins[piece.first] = 1, ends[piece.last] = 1;
        }
        std::vector<int> kept, before(n + 1, 0);
        bool begun = false;
        for (int c = 0; c < n; ++c) {
            before[c] = static_cast<int>(kept.size());
            begun = begun || begins[c];
            const bool last = ends[c] || c + 1 == n || !same_obstacles(clique_[c], clique_[c + 1]);
            const bool fresh = begun || kept.empty() || !same_obstacles(kept.back(), clique_[c]);
            if (!last || !fresh) continue;
            kept.push_back(clique_[c]);
            begun = false;
        }
        before[n] = static_cast<int>(kept.size());
        for (Piece& piece : pieces_) {
            if (!piece.free()) piece.first = before[piece.first], piece.last = before[piece.last + 1] - 1;
        }
        clique_ = std::move(kept);
    }

    bool same_obstacles(int a, int b) const {
        const auto& rows = m_.obstacles;
        return std::equal(rows.values.begin() + rows.begin(a), rows.values.begin() + rows.end(a), rows.values.begin() + rows.begin(b),
                          rows.values.begin() + rows.end(b), [](Range x, Range y) { return x.from == y.from && x.to == y.to; });
    }

    Glued build() {
        Glued glued;
        Model& g = glued.model;
        g.unit = m_.unit, g.origin = m_.origin;
        g.separable = m_.separable;
        g.fixed_peak = m_.fixed_peak;
        std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.members[0].first < b.members[0].first; });
        std::vector<std::vector<int>> rows(clique_.size());
        for (const Piece& piece : pieces_) {
            const int j = g.blocks();
            g.original.push_back(j);
            g.size.push_back(piece.size);
            g.height.push_back(piece.height);
            g.modulus.push_back(piece.modulus);
            g.residue.push_back(piece.residue);
            g.lowest.push_back(piece.lowest);
            g.highest.push_back(piece.highest);
            g.lifetime.push_back(piece.lifetime);
            g.twin.push_back(j);
            g.first_clique.push_back(piece.first);
            g.last_clique.push_back(piece.last);
            for (int c = piece.first; c <= piece.last; ++c) rows[c].push_back(j);
            add_stops(g, piece);
            glued.members.values.insert(glued.members.values.end(), piece.members.begin(), piece.members.end());
            glued.members.close_row();
        }
        for (std::size_t c = 0; c < clique_.size(); ++c) {
            g.clique.values.insert(g.clique.values.end(), rows[c].begin(), rows[c].end());
            g.clique.close_row();
            const auto obstacles = m_.obstacles.values.begin();
            g.obstacles.values.insert(g.obstacles.values.end(), obstacles + m_.obstacles.begin(clique_[c]), obstacles + m_.obstacles.end(clique_[c]));
            g.obstacles.close_row();
        }
        find_ceiling(g);
        return glued;
    }

    // A piece cannot start where one of its members cannot.
    void add_stops(Model& g, const Piece& piece) const {
        std::vector<Range> stops;
        for (const auto& [block, at] : piece.members) {
            for (int i = m_.stops.begin(block); i < m_.stops.end(block); ++i) {
                stops.push_back({m_.stops.values[i].from - at, m_.stops.values[i].to - at});
            }
        }
        append_merged(g.stops, stops);
    }

    const Model& m_;
    const bool chains_;
    std::vector<int> clique_;  // the remaining cliques
    std::vector<Piece> pieces_;
};

}  // namespace

std::vector<Coord> Glued::expand(const std::vector<Coord>& offsets) const {
    std::vector<Coord> expanded(members.values.size());
    for (int j = 0; j < members.rows(); ++j) {
        for (int i = members.begin(j); i < members.end(j); ++i) expanded[members.values[i].first] = offsets[j] + members.values[i].second;
    }
    return expanded;
}

std::optional<Glued> glue(const Model& model, bool chains) {
    if (!model.plain || !model.contradiction.empty()) return std::nullopt;
    return Gluer(model, chains).run();
}

}  // namespace memplan
