// State and propagation of the decision search where every block is one rectangle and all conflicts come from time.
//
// Cliques are in the order of time and a block is a member of a contiguous stretch of them, so nobody needs a list of pairs: who conflicts
// with a block is live where it begins, or begins while it is live.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include <utility>
#include <vector>

#include "search_model.hpp"
#include "search_rows.hpp"

namespace memplan {

// C is the type of addresses: half as wide where they allow it, since what counts here is how many fit a cache line.
template <typename C>
class PlainState {
  public:
    static constexpr int kChunk = 32;  // cliques side by side whose changes are watched together
    static constexpr C kPlaced = std::numeric_limits<C>::max();

    struct Mark {
        std::size_t lows, states, places;
    };

    explicit PlainState(const Model& model, std::vector<std::uint32_t>& weight)
        : m_(model),
          n_(model.blocks()),
          cliques_(model.cliques()),
          chunks_((cliques_ + kChunk - 1) / kChunk),
          checked_(!model.stops.values.empty() || std::any_of(model.modulus.begin(), model.modulus.end(), [](Coord a) { return a != 1; })),
          compact_(model.clique.values.size() < kCompactBelow),
          weight_(weight),
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
          settled_at_(cliques_, 0),
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
        // Blocks in no clique conflict with nothing that moves; they take no part.
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

    // --- what selection looks at ---

    int count(int c) const { return count_[c]; }
    Coord slack(int c) const { return reach_[c] - floor_[c]; }
    int candidates(int c) const { return candidates_[c]; }
    Coord ceiling(int c) const { return ceiling_[c]; }
    bool crossed(int c) const { return crossing_[c] > 0; }
    bool placed(int block) const { return low_[block] == kPlaced; }
    Coord low(int block) const { return low_[block]; }
    Coord offset(int block) const { return offset_[block]; }
    bool free(int block) const { return last_[block] < 0; }

    // Whether cliques of this chunk have changed since the last call.
    bool take_changed(int chunk) { return std::exchange(changed_[chunk], std::uint8_t{0}) != 0; }

    // The unplaced member of a clique that can begin lowest.
    int lowest(int c, const int* order) const {
        const int* block = row(c);
        int best = block[0];
        for (int i = 1; i < length_[c]; ++i) {
            const int j = block[i];
            if (low_[j] < low_[best] || (low_[j] == low_[best] && order[j] < order[best])) best = j;
        }
        return best;
    }

    // From a block down to one that nothing unplaced can lie below. Sets where that one must lie at least if not at its low; false if it
    // need not be tried there.
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

    // --- changes, and their trail ---

    Mark mark() {
        ++epoch_;
        return {low_trail_.size(), state_trail_.size(), place_trail_.size()};
    }

    void undo(const Mark& mark) {
        clear_dirty();
        while (low_trail_.size() > mark.lows) {
            low_[low_trail_.back().first] = low_trail_.back().second;
            low_trail_.pop_back();
        }
        // A placement counts on from what was there before it, so both trails are undone in the order in which they grew.
        while (place_trail_.size() > mark.places) {
            restore(place_trail_.back().second);
            unplace(place_trail_.back().first);
            place_trail_.pop_back();
        }
        restore(mark.states);
        cut_ = false;
        ++epoch_;
    }

    bool place(int block) {
        const C x = low_[block];
        offset_[block] = x;
        low_trail_.emplace_back(block, x);
        low_[block] = kPlaced;
        place_trail_.push_back({block, state_trail_.size()});
        const C size = size_[block];
        const int from = first_[block], to = last_[block];
        int* const slots = compact_ ? slot_.data() + slot_at_[block] : nullptr;
        const std::size_t floors = floor_trail_.size();
        floor_trail_.resize(floors + static_cast<std::size_t>(to - from + 1), kUnchanged);
        for (int c = from; c <= to; ++c) {
            --count_[c];
            if (compact_) {
                const int at = slots[c - from], last = m_.clique.begin(c) + --length_[c];
                const int moved = member_[last];
                row_size_[at] = row_size_[last], row_size_[last] = size;
                member_[last] = block, slots[c - from] = last;
                member_[at] = moved, slot_[slot_at_[moved] + c - first_[moved]] = at;
            }
            sum_[c] -= size;
            // What is left lies above the block. Where all could be the lowest, that is all that changes, unless raising them shows more.
            if (partial_[c] || settled_at_[c] || count_[c] == 0) {
                dirty_[c] = 1;
                soil(c / kChunk);
            } else {
                floor_trail_[floors + static_cast<std::size_t>(c - from)] = floor_[c];
                floor_[c] = std::max<C>(floor_[c], x + size), reach_[c] += size, --candidates_[c];
                note(c);
                if (reach_[c] < floor_[c]) {
                    dirty_[c] = 1;
                    soil(c / kChunk);
                }
            }
        }
        for (int c = from; c < to; ++c) cut_ |= --crossing_[c] == 0;
        work_ += 4 * (to - from) + count_[from];
        const C end = x + size;
        bool holds = true;
        each_near(block, [&](int other) {
            if (low_[other] < end && holds) holds = raise(other, end);
        });
        return holds;
    }

    bool raise(int block, Coord least) {
        const C before = low_[block];
        if (checked_) least = feasible(block, least);
        if (least > high_[block]) {
            blame(block);
            return false;
        }
        low_trail_.emplace_back(block, before);
        low_[block] = static_cast<C>(least);
        const int from = first_[block], to = last_[block];
        const C next = low_[block];
        for (int k = from / kChunk; k <= to / kChunk; ++k) {
            work_ += 1;
            if (next <= patience_[k]) continue;
            const int begin = k * kChunk, end = std::min(begin + kChunk, cliques_), a = std::max(from, begin), b = std::min(to + 1, end);
            if (mark_changed(dirty_.data() + a, reach_.data() + a, partial_.data() + a, before, next, b - a)) soil(k);
            patience_[k] = least_patience(reach_.data() + begin, partial_.data() + begin, end - begin);
            work_ += 4;
        }
        work_ += 4;
        return true;
    }

    // Brings all changed cliques up to date; false if one of them cannot hold its members.
    bool settle() {
        while (dirty_from_ <= dirty_to_) {
            const int from = dirty_from_, to = dirty_to_;
            dirty_from_ = chunks_, dirty_to_ = -1;
            for (int k = from; k <= to; ++k) {
                if (!soiled_[k]) continue;
                soiled_[k] = 0;
                const int end = std::min((k + 1) * kChunk, cliques_);
                for (int c = k * kChunk; c < end; ++c) {
                    if (!dirty_[c]) continue;
                    dirty_[c] = 0;
                    if (!refresh(c)) {
                        soil(k);
                        soil(to);
                        clear_dirty();
                        return false;
                    }
                }
            }
        }
        return true;
    }

    bool take_cut() { return std::exchange(cut_, false); }
    std::int64_t work() const { return work_; }
    void look_at(int c) { work_ += c; }
    const std::vector<int>& bumped() const { return bumped_; }
    void clear_bumped() { bumped_.clear(); }

    // Everything as at the root of the search for this height; false if that is impossible at once.
    bool start(Coord height) {
        low_trail_.clear();
        state_trail_.clear();
        place_trail_.clear();
        floor_trail_.clear();
        clear_dirty();
        cut_ = true;
        ++epoch_;
        for (int j = 0; j < n_; ++j) {
            const Coord top = floor_div(height - m_.height[j] - m_.origin, m_.unit);
            const Coord high = align_down(j, std::min({m_.highest[j], top, m_.ceiling - m_.size[j]}));
            const Coord low = feasible(j, m_.lowest[j]);
            if (low > high) return false;
            high_[j] = static_cast<C>(high);
            low_[j] = static_cast<C>(low);
        }
        if (compact_) std::copy(m_.clique.values.begin(), m_.clique.values.end(), member_.begin());
        for (std::size_t e = 0; compact_ && e < member_.size(); ++e) row_size_[e] = size_[member_[e]];
        for (int c = 0; compact_ && c < cliques_; ++c) {
            for (int e = m_.clique.begin(c); e < m_.clique.end(c); ++e) slot_[slot_at_[member_[e]] + c - first_[member_[e]]] = e;
        }
        std::fill(crossing_.begin(), crossing_.end(), 0);
        for (int j = 0; j < n_; ++j) {
            for (int c = first_[j]; c < last_[j]; ++c) ++crossing_[c];
        }
        for (int c = 0; c < cliques_; ++c) {
            count_[c] = length_[c] = m_.clique.end(c) - m_.clique.begin(c);
            Coord sum = 0;
            C highest = 0, least = kPlaced;
            for (int e = m_.clique.begin(c); e < m_.clique.end(c); ++e) {
                const int j = m_.clique.values[e];
                sum += size_[j];
                highest = std::max<C>(highest, high_[j] + size_[j]);
                least = std::min<C>(least, high_[j] + size_[j]);
            }
            if (sum > highest) return false;
            sum_[c] = static_cast<C>(sum);
            ceiling_[c] = highest;
            uneven_[c] = least < highest;
            settled_at_[c] = uneven_[c] || m_.obstacles.begin(c) < m_.obstacles.end(c);
            floor_[c] = 0;
            reach_[c] = kPlaced;
            candidates_[c] = 0;
            partial_[c] = 1;
            dirty_[c] = 1;
            soil(c / kChunk);
        }
        std::fill(patience_.begin(), patience_.end(), C{-1});
        std::fill(changed_.begin(), changed_.end(), 1);
        if (!settle()) return false;
        for (int j = 0; j < n_; ++j) {
            if (free(j)) offset_[j] = low_[j];
        }
        return true;
    }

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

    // Beside the row.
    const C* sizes(int c) {
        if (compact_) return row_size_.data() + m_.clique.begin(c);
        gather_lows(row(c), size_.data(), row_size_.data(), length_[c]);
        return row_size_.data();
    }

    Coord align_down(int block, Coord x) const {
        const Coord modulus = m_.modulus[block];
        return x - (((x - m_.residue[block]) % modulus) + modulus) % modulus;
    }

    // The least aligned start from x on that misses all obstacles.
    Coord feasible(int block, Coord x) const {
        const Coord modulus = m_.modulus[block], residue = m_.residue[block];
        const auto align = [&](Coord y) { return modulus == 1 ? y : y + (((residue - y) % modulus) + modulus) % modulus; };
        x = align(x);
        for (int i = m_.stops.begin(block); i < m_.stops.end(block); ++i) {
            const Range stop = m_.stops.values[i];
            if (x < stop.from) break;
            if (x < stop.to) x = align(stop.to);
        }
        return x;
    }

    // A chunk of cliques with a dirty one among them.
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

    // After a clique's state has changed.
    void note(int c) {
        const int k = c / kChunk;
        changed_[k] = 1;
        patience_[k] = std::min(patience_[k], partial_[c] ? C{-1} : reach_[c]);
    }

    void bump(int c) {
        ++weight_[c];
        bumped_.push_back(c);
    }

    // A block without room: its fullest clique is to blame.
    void blame(int block) {
        int worst = first_[block];
        if (free(block)) return;
        for (int c = worst; c <= last_[block]; ++c) {
            if (floor_[c] > floor_[worst]) worst = c;
        }
        bump(worst);
    }

    void unplace(int block) {
        const C size = size_[block];
        const int from = first_[block], to = last_[block];
        const std::size_t floors = floor_trail_.size() - static_cast<std::size_t>(to - from + 1);
        for (int c = from; c <= to; ++c) {
            ++count_[c], sum_[c] += size;
            if (compact_) ++length_[c];
            const C floor = floor_trail_[floors + static_cast<std::size_t>(c - from)];
            if (floor == kUnchanged) continue;
            floor_[c] = floor, reach_[c] -= size, ++candidates_[c];
            note(c);
        }
        floor_trail_.resize(floors);
        for (int c = from; c < to; ++c) ++crossing_[c];
    }

    void restore(std::size_t states) {
        while (state_trail_.size() > states) {
            const Saved& saved = state_trail_.back();
            floor_[saved.clique] = saved.floor;
            reach_[saved.clique] = saved.reach;
            candidates_[saved.clique] = saved.candidates;
            partial_[saved.clique] = saved.partial;
            note(saved.clique);
            state_trail_.pop_back();
        }
    }

    void save(int c) {
        if (saved_[c] == epoch_) return;
        saved_[c] = epoch_;
        state_trail_.push_back({c, candidates_[c], floor_[c], reach_[c], partial_[c]});
    }

    bool refresh(int c) {
        const int count = count_[c], length = length_[c];
        save(c);
        if (count == 0) {
            floor_[c] = 0, reach_[c] = -1, candidates_[c] = 0, partial_[c] = 0;
            note(c);
            return true;
        }
        const int* const block = row(c);
        C* const low = near_.data();
        C floor = gather_lows(block, low_.data(), low, length);
        work_ += 2 * length;
        C reach;
        if (uneven_[c]) {
            const int last = last_if_sure(c, floor, reach);
            if (last != kNone) {
                const int j = block[last];
                const Coord x = Coord{floor} + sum_[c] - size_[j];
                if (low_[j] < x) {
                    if (!raise(j, x)) return false;
                    low[last] = low_[j];
                    floor = *std::min_element(low, low + length);
                }
            }
        } else {
            reach = below_obstacles(c, ceiling_[c]);
        }
        if (reach < floor) {
            bump(c);
            return false;
        }
        // What cannot be the lowest lies above the earliest end of what can.
        const auto [end, candidates] = scan_lows(low, sizes(c), reach, length);
        floor_[c] = floor, reach_[c] = reach, candidates_[c] = candidates, partial_[c] = candidates < count;
        note(c);
        if (candidates < count && count_between(low, reach, end, length) > 0) {
            for (int i = 0; i < length; ++i) {
                if (low[i] > reach && low[i] < end && !raise(block[i], end)) return false;
            }
        }
        return true;
    }

    // Not all can end equally high, so what is left decides how much room there is (reach); and if it takes one certain member to end high
    // enough, that one is the last: returns where it stands in the row.
    int last_if_sure(int c, C floor, C& reach) {
        const int length = length_[c];
        const int* const block = row(c);
        C highest = -1, second = -1;
        int last = kNone;
        for (int i = 0; i < length; ++i) {
            if (low_[block[i]] == kPlaced) continue;
            const C top = high_[block[i]] + size_[block[i]];
            if (top > highest) {
                second = highest, highest = top, last = i;
            } else {
                second = std::max(second, top);
            }
        }
        work_ += length;
        reach = below_obstacles(c, highest);
        return reach >= floor && second - floor < sum_[c] ? last : kNone;
    }

    // The greatest address from which up to the top the clique still has room for all its unplaced members.
    C below_obstacles(int c, Coord top) const {
        Coord need = sum_[c];
        for (int i = m_.obstacles.end(c) - 1; i >= m_.obstacles.begin(c); --i) {
            const Range obstacle = m_.obstacles.values[i];
            if (obstacle.from >= top) continue;
            if (obstacle.to < top) {
                if (top - obstacle.to >= need) break;
                need -= top - obstacle.to;
            }
            top = obstacle.from;
        }
        return static_cast<C>(std::max<Coord>(top - need, -1));
    }

    const Model& m_;
    const int n_, cliques_, chunks_;
    const bool checked_;  // starts must be aligned, or miss obstacles
    const bool compact_;  // unplaced members of a clique come first in its row; where rows fill no cache, moving them costs too much
    std::vector<std::uint32_t>& weight_;
    std::vector<C> size_, low_, high_, offset_;
    std::vector<int> first_, last_;
    std::vector<C> floor_, reach_, partial_, sum_, ceiling_;  // partial_: some members cannot be the lowest
    std::vector<int> candidates_, count_, crossing_;
    std::vector<std::uint32_t> saved_;
    std::uint32_t epoch_ = 0;
    std::vector<char> uneven_;      // members cannot all end at the ceiling
    std::vector<char> settled_at_;  // the room of a clique depends on more than its sum
    std::vector<C> dirty_, patience_;           // patience_: by chunk, nothing changes by members that rise to this or less
    std::vector<std::uint8_t> soiled_, changed_;  // by chunk: has dirty cliques; has changed since it was last seen
    int dirty_from_, dirty_to_ = -1;              // chunks
    std::vector<int> slot_at_;
    std::vector<int> member_, slot_, length_;  // rows of members; where each stands, by block and clique; what of a row to look at
    std::vector<int> by_first_, first_at_;
    std::vector<C> row_size_, near_;  // sizes beside member_; and room for the lows of one row
    bool cut_ = false;
    std::int64_t work_ = 0;
    std::vector<int> bumped_;
    std::vector<std::pair<int, C>> low_trail_;
    std::vector<Saved> state_trail_;
    std::vector<std::pair<int, std::size_t>> place_trail_;  // block, and how long the trail of states was
    std::vector<C> floor_trail_;                            // of each placed block's cliques, by time; kUnchanged where only it was taken out
};

}  // namespace memplan
