// State and propagation of the decision search where every block is one rectangle and all conflicts come from time.
//
// Cliques are in the order of time, and a block is a member of consecutive ones. So no list of pairs is needed: the blocks that conflict with a block
// are live when it begins, or begin while it is live.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include <utility>
#include <vector>

#include "search/building/model.hpp"
#include "search/states/account.hpp"
#include "search/states/rows.hpp"
#include "search/states/starts.hpp"

namespace memplan {

// C is the type of addresses: 32 bits where they fit, since speed depends on how many share a cache line.
template <typename C>
class PlainState : public Account {
  public:
    static constexpr int kChunk = 32;  // neighbouring cliques whose changes are tracked together
    static constexpr bool kSelfContained = true;  // placed blocks matter only through the lows of unplaced ones
    static constexpr C kPlaced = std::numeric_limits<C>::max();

    struct Mark {
        std::size_t lows, states, places;
    };

    explicit PlainState(const Model& model, std::vector<std::uint32_t>& weight)
        : Account(weight),
          m_(model),
          n_(model.blocks()),
          cliques_(model.cliques()),
          chunks_((cliques_ + kChunk - 1) / kChunk),
          checked_(!model.stops.values.empty() || std::any_of(model.modulus.begin(), model.modulus.end(), [](Coord a) { return a != 1; })),
          compact_(model.clique.values.size() < kCompactBelow),
          size_(model.size.begin(), model.size.end()),
          low_(n_),
          high_(n_),
          offset_(n_),
          first_(model.first_clique),
          last_(model.last_clique),
          floor_(cliques_),
          reach_(cliques_),
          partial_(cliques_),
          sum_(cliques_),
          ceiling_(cliques_),
          candidates_(cliques_),
          count_(cliques_),
          crossing_(cliques_ + 1),
          saved_(cliques_, 0),
          uneven_(cliques_, 0),
          irregular_(cliques_, 0),
          dirty_(cliques_, 0),
          patience_(chunks_, -1),
          soiled_(chunks_, 0),
          changed_(chunks_, 1),
          dirty_from_(chunks_),
          member_(compact_ ? model.clique.values : std::vector<int>()),
          slot_(compact_ ? model.clique.values.size() : 0),
          length_(cliques_),
          by_first_(n_),
          first_at_(cliques_ + 1, 0) {
        int longest = 0;
        for (int c = 0; c < cliques_; ++c) longest = std::max(longest, m_.clique.end(c) - m_.clique.begin(c));
        near_.resize(longest);
        row_size_.resize(compact_ ? member_.size() : static_cast<std::size_t>(longest));
        // Blocks in no clique have no conflicts with moving blocks and are left out.
        by_first_.clear();
        for (int j = 0; j < n_; ++j) {
            if (last_[j] >= 0) by_first_.push_back(j);
        }
        std::stable_sort(by_first_.begin(), by_first_.end(), [&](int a, int b) { return first_[a] < first_[b]; });
        slot_at_.assign(n_ + 1, 0);
        for (int j = 0; compact_ && j < n_; ++j) slot_at_[j + 1] = slot_at_[j] + (free(j) ? 0 : last_[j] - first_[j] + 1);
        for (const int j : by_first_) ++first_at_[first_[j] + 1];
        std::partial_sum(first_at_.begin(), first_at_.end(), first_at_.begin());
    }

    // --- read by selection ---

    int count(int c) const { return count_[c]; }
    Coord slack(int c) const { return reach_[c] - floor_[c]; }
    int candidates(int c) const { return candidates_[c]; }
    Coord ceiling(int c) const { return ceiling_[c]; }
    bool crossed(int c) const { return crossing_[c] > 0; }
    bool placed(int block) const { return low_[block] == kPlaced; }
    Coord low(int block) const { return low_[block]; }
    Coord offset(int block) const { return offset_[block]; }
    bool free(int block) const { return last_[block] < 0; }

    // True if cliques of this chunk have changed since the last call.
    bool take_changed(int chunk) { return std::exchange(changed_[chunk], std::uint8_t{0}) != 0; }

    // The unplaced member of a clique with the lowest possible start.
    int lowest(int c, const int* order) const {
        const int* block = row(c);
        int best = block[0];
        for (int i = 1; i < length_[c]; ++i) {
            const int j = block[i];
            if (low_[j] < low_[best] || (low_[j] == low_[best] && order[j] < order[best])) best = j;
        }
        return best;
    }

    // Goes down from a block to one that no unplaced block can lie below. Sets its least position if not at its low; false if it has no alternative
    // to its low.
    bool descend(int& block, const int* order, Coord& raise_to) {
        for (;;) {
            const C x = low_[block], top = x + size_[block];
            C below_end = kPlaced, raise = kPlaced;
            int below = kNone;
            each_near(block, [&](int other) {
                const C low = low_[other];
                if (low >= top) return;
                const C end = low + size_[other];
                if (end > x) {
                    raise = std::min(raise, end);
                } else if (end < below_end || (end == below_end && order[other] < order[below])) {
                    below = other, below_end = end;
                }
            });
            if (below == kNone) {
                raise_to = raise;
                return raise != kPlaced;
            }
            block = below;
        }
    }

    // --- changes, and the journal that undoes them ---

    Mark mark();
    void undo(const Mark& mark);

    // False if a block is left without room; settle then checks the cliques.
    bool place(int block);
    bool raise(int block, Coord least);

    // Brings all changed cliques up to date; false if one of them cannot hold its members.
    bool settle();

    // Resets to the root of the search for this height; false if that height is impossible at once.
    bool start(Coord height);

  private:
    static constexpr C kUnchanged = -2;
    static constexpr std::size_t kCompactBelow = 1'000'000;

    struct Saved {
        int clique, candidates;
        C floor, reach, partial;
    };

    template <typename Visit>
    void each_near(int block, Visit&& visit) {
        const int c = first_[block];
        const int* members = row(c);
        for (int i = 0; i < length_[c]; ++i) {
            if (members[i] != block) visit(members[i]);
        }
        const int from = first_at_[c + 1], to = first_at_[last_[block] + 1];
        for (int i = from; i < to; ++i) visit(by_first_[i]);
        work_ += length_[c] + to - from;
    }

    const int* row(int c) const { return (compact_ ? member_ : m_.clique.values).data() + m_.clique.begin(c); }

    C room_to(int c, C top) const { return static_cast<C>(std::max<Coord>(reach_below(m_, c, top, sum_[c]), -1)); }

    // The sizes of the row's members, in its order.
    const C* sizes(int c) {
        if (compact_) return row_size_.data() + m_.clique.begin(c);
        gather_lows(row(c), size_.data(), row_size_.data(), length_[c]);
        return row_size_.data();
    }

    // Marks a chunk that contains a dirty clique.
    void soil(int chunk) {
        soiled_[chunk] = 1;
        dirty_from_ = std::min(dirty_from_, chunk);
        dirty_to_ = std::max(dirty_to_, chunk);
    }

    void clear_dirty() {
        for (int k = dirty_from_; k <= dirty_to_; ++k) {
            if (!soiled_[k]) continue;
            soiled_[k] = 0;
            std::fill(dirty_.begin() + k * kChunk, dirty_.begin() + std::min((k + 1) * kChunk, cliques_), C{0});
        }
        dirty_from_ = chunks_, dirty_to_ = -1;
    }

    // Called after a clique's state has changed.
    void note(int c) {
        const int k = c / kChunk;
        changed_[k] = 1;
        patience_[k] = std::min(patience_[k], partial_[c] ? C{-1} : reach_[c]);
    }

    // Blames the fullest clique of a block that has no room.
    void blame(int block);

    void unplace(int block);
    void restore(std::size_t states);

    void save(int c) {
        if (saved_[c] == epoch_) return;
        saved_[c] = epoch_;
        state_trail_.push_back({c, candidates_[c], floor_[c], reach_[c], partial_[c]});
    }

    bool refresh(int c);

    // Not all members can end equally high, so the remaining ones decide how much room there is (reach). If only one can end high enough, it is the
    // last: returns its place in the row.
    int last_if_sure(int c, C floor, C& reach);

    const Model& m_;
    const int n_, cliques_, chunks_;
    const bool checked_;  // starts must be aligned or avoid obstacles
    const bool compact_;  // unplaced members come first in their row; for very long rows, moving members costs too much
    std::vector<C> size_, low_, high_, offset_;
    std::vector<int> first_, last_;
    std::vector<C> floor_, reach_, partial_, sum_, ceiling_;  // partial_: some members cannot be the lowest
    std::vector<int> candidates_, count_, crossing_;
    std::vector<std::uint32_t> saved_;
    std::uint32_t epoch_ = 0;
    std::vector<char> uneven_;     // members cannot all end at the ceiling
    std::vector<char> irregular_;  // true if the room of a clique depends on more than its sum
    std::vector<C> dirty_, patience_;             // patience_: by chunk; raising a member to at most this changes nothing
    std::vector<std::uint8_t> soiled_, changed_;  // by chunk: has dirty cliques; has changed since the last look
    int dirty_from_, dirty_to_ = -1;              // chunks
    std::vector<int> slot_at_;
    std::vector<int> member_, slot_, length_;  // rows of members; place of each by block and clique; length of a row to read
    std::vector<int> by_first_, first_at_;
    std::vector<C> row_size_, near_;  // sizes parallel to member_; buffer for the lows of one row
    std::vector<std::pair<int, C>> low_trail_;
    std::vector<Saved> state_trail_;
    std::vector<std::pair<int, std::size_t>> place_trail_;  // block, and the length of the state trail
    std::vector<C> floor_trail_;                            // by placed block, for its cliques in order; kUnchanged where only it was taken out
};

}  // namespace memplan
