#include "search/states/general.hpp"

#include <algorithm>
#include <numeric>

namespace memplan {

int GeneralState::lowest(int c, const int* order) const {
    const int base = m_.clique.begin(c);
    int best = kNone;
    Coord least = kPlaced;
    for (int i = base; i < base + count_[c]; ++i) {
        const int j = member_[i];
        const Coord low = low_[j] + bottom(member_entry_[i]);
        if (best == kNone || low < least || (low == least && order[j] < order[best])) best = j, least = low;
    }
    return best;
}

bool GeneralState::descend(int& block, const int* order, Coord& raise_to) {
    for (int steps = 0;; ++steps) {
        const int first = m_.neighbours.begin(block), last = m_.neighbours.end(block);
        const Coord x = low_[block];
        work_ += last - first;
        int below = kNone;
        Coord below_end = kPlaced, raise = kPlaced;
        for (int e = first; e < last; ++e) {
            const int other = m_.neighbours.values[e];
            const Coord low = low_[other];
            if (low == kPlaced) continue;
            const Coord end = low - m_.distance[e].low;
            if (apart_.open_distance(e, low - x) < m_.distance[e].high) {
                if (below == kNone || end < below_end || (end == below_end && order[other] < order[below])) {
                    below = other, below_end = end;
                }
            }
            raise = std::min(raise, apart_.pushed_by(e, low, x));
        }
        if (below == kNone || steps >= n_) {
            raise_to = raise;
            return raise != kPlaced;
        }
        block = below;
    }
}

bool GeneralState::start(Coord height) {
    low_trail_.clear();
    state_trail_.clear();
    place_trail_.clear();
    hang_trail_.clear();
    std::fill(hanging_.begin(), hanging_.end(), 0);
    clear_queue();
    cut_ = true;
    ++epoch_;
    for (int j = 0; j < n_; ++j) {
        const Coord top = floor_div(height - m_.height[j] - m_.origin, m_.unit);
        high_[j] = align_down(m_, j, std::min(m_.highest[j], top));
        low_[j] = feasible(j, m_.lowest[j]);
        if (low_[j] > high_[j]) return false;
    }
    std::copy(m_.clique.values.begin(), m_.clique.values.end(), member_.begin());
    std::iota(member_entry_.begin(), member_entry_.end(), 0);
    std::iota(slot_.begin(), slot_.end(), 0);
    std::fill(crossing_.begin(), crossing_.end(), 0);
    for (int j = 0; j < n_; ++j) {
        for (int c = m_.first_clique[j]; c < m_.last_clique[j]; ++c) ++crossing_[c];
    }
    for (int c = 0; c < cliques_; ++c) {
        count_[c] = m_.clique.end(c) - m_.clique.begin(c);
        sum_[c] = 0;
        ceiling_[c] = 0;
        Coord least = kPlaced;
        for (int e = m_.clique.begin(c); e < m_.clique.end(c); ++e) {
            const int j = m_.clique.values[e];
            sum_[c] += entry_height(e);
            ceiling_[c] = std::max(ceiling_[c], high_[j] + entry_top(e));
            least = std::min(least, high_[j] + entry_top(e));
        }
        uneven_[c] = least < ceiling_[c];
        state_[c] = {0, kPlaced, 0};
        enqueue(c);
    }
    if (!settle()) return false;
    // Blocks in no clique have no conflicts with moving blocks.
    for (int j = 0; j < n_; ++j) {
        if (m_.entries.begin(j) == m_.entries.end(j)) offset_[j] = low_[j];
    }
    return true;
}

GeneralState::Mark GeneralState::mark() {
    ++epoch_;
    return {low_trail_.size(), state_trail_.size(), place_trail_.size(), hang_trail_.size()};
}

void GeneralState::undo(const Mark& mark) {
    clear_queue();
    while (place_trail_.size() > mark.places) {
        unplace(place_trail_.back());
        place_trail_.pop_back();
    }
    while (low_trail_.size() > mark.lows) {
        low_[low_trail_.back().first] = low_trail_.back().second;
        low_trail_.pop_back();
    }
    while (state_trail_.size() > mark.states) {
        state_[state_trail_.back().first] = state_trail_.back().second;
        state_trail_.pop_back();
    }
    while (hang_trail_.size() > mark.hangs) {
        --hanging_[hang_trail_.back()];
        hang_trail_.pop_back();
    }
    cut_ = false;
    ++epoch_;
}

bool GeneralState::place(int block) {
    const Coord x = low_[block];
    offset_[block] = x;
    low_trail_.emplace_back(block, x);
    low_[block] = kPlaced;
    place_trail_.push_back(block);
    for (int i = m_.entries.begin(block); i < m_.entries.end(block); ++i) {
        const int entry = m_.entries.values[i];
        const int c = m_.entry_clique[entry];
        const int base = m_.clique.begin(c), last = base + --count_[c], at = slot_[entry];
        const int moved = member_entry_[last], moved_block = member_[last];
        member_entry_[last] = entry, member_[last] = block, slot_[entry] = last;
        member_entry_[at] = moved, member_[at] = moved_block, slot_[moved] = at;
        sum_[c] -= entry_height(entry);
        enqueue(c);
    }
    for (int c = m_.first_clique[block]; c < m_.last_clique[block]; ++c) {
        if (--crossing_[c] == 0) cut_ = true;
    }
    const int first = m_.neighbours.begin(block), last = m_.neighbours.end(block);
    work_ += last - first + 2 * (m_.entries.end(block) - m_.entries.begin(block));
    for (int e = first; e < last; ++e) {
        const int other = m_.neighbours.values[e];
        if (low_[other] == kPlaced) continue;
        const Coord apart = low_[other] - x, next = apart_.open_distance(e, apart);
        if (next < m_.distance[e].high) {
            ++hanging_[other];
            hang_trail_.push_back(other);
        }
        if (next > apart && !raise(other, x + next)) return false;
    }
    return true;
}

bool GeneralState::raise(int block, Coord x) {
    const Coord before = low_[block];
    if (aligned_ || stopped_starts_ || hanging_[block] > 0) x = feasible(block, x);
    if (x > high_[block]) {
        blame(block);
        return false;
    }
    low_trail_.emplace_back(block, before);
    low_[block] = x;
    const int first = m_.entries.begin(block), last = m_.entries.end(block);
    for (int i = first; i < last; ++i) {
        const int entry = m_.entries.values[i];
        const int c = m_.entry_clique[entry];
        // Raising a member that could not be the lowest changes nothing.
        if (before + bottom(entry) <= state_[c].reach) enqueue(c);
    }
    work_ += last - first;
    return true;
}

bool GeneralState::settle() {
    while (queue_size_ > 0) {
        const int c = queue_[queue_head_];
        if (++queue_head_ == cliques_) queue_head_ = 0;
        --queue_size_;
        queued_[c] = 0;
        if (!refresh(c)) {
            clear_queue();
            return false;
        }
    }
    return true;
}

bool GeneralState::refresh(int c) {
    const int count = count_[c], base = m_.clique.begin(c);
    save(c);
    Level& state = state_[c];
    if (count == 0) {
        state = {0, -1, 0};
        return true;
    }
    const int* block = member_.data() + base;
    const int* entry = member_entry_.data() + base;
    work_ += 2 * count;
    Coord floor = floor_of(c);
    Coord reach;
    if (uneven_[c]) {
        // Not all members can end equally high, so the remaining ones decide how much room there is. If only one can end high enough, it is the last.
        Coord highest = -1, second = -1;
        int last = kNone;
        for (int i = 0; i < count; ++i) {
            const Coord top = high_[block[i]] + entry_top(entry[i]);
            if (top > highest) {
                second = highest, highest = top, last = i;
            } else {
                second = std::max(second, top);
            }
        }
        work_ += count;
        reach = reach_below(m_, c, highest, sum_[c]);
        if (reach >= floor && second - floor < sum_[c]) {
            const Coord x = floor + sum_[c] - entry_top(entry[last]);
            if (low_[block[last]] < x) {
                if (!raise(block[last], x)) return false;
                floor = floor_of(c);
            }
        }
    } else {
        reach = reach_below(m_, c, ceiling_[c], sum_[c]);
    }
    if (reach < floor) {
        bump(c);
        return false;
    }
    // Members that cannot be the lowest lie above the earliest end of those that can.
    Coord end = kPlaced;
    int candidates = 0;
    for (int i = 0; i < count; ++i) {
        const Coord low = low_[block[i]];
        if (low + bottom(entry[i]) <= reach) {
            ++candidates;
            end = std::min(end, low + solid_top(entry[i]));
        }
    }
    state = {floor, reach, candidates};
    if (candidates < count) {
        for (int i = 0; i < count; ++i) {
            const Coord begin = low_[block[i]] + bottom(entry[i]);
            if (begin > reach && begin < end && !raise(block[i], end - bottom(entry[i]))) return false;
        }
    }
    return true;
}

Coord GeneralState::floor_of(int c) const {
    const int base = m_.clique.begin(c);
    Coord floor = kPlaced;
    for (int i = base; i < base + count_[c]; ++i) floor = std::min(floor, low_[member_[i]] + bottom(member_entry_[i]));
    return floor;
}

Coord GeneralState::feasible(int block, Coord x) {
    for (;;) {
        const Coord before = x;
        if (aligned_ || stopped_starts_) x = next_start(m_, block, x);
        if (hanging_[block] > 0 && x == before) {
            for (int e = m_.neighbours.begin(block); e < m_.neighbours.end(block); ++e) {
                const int other = m_.neighbours.values[e];
                if (low_[other] != kPlaced) continue;
                // Distances are counted from the other block here, so the edge is mirrored.
                x = offset_[other] + apart_.open_distance_from(e, x - offset_[other]);
            }
            work_ += m_.neighbours.end(block) - m_.neighbours.begin(block);
        }
        if (x == before || x > high_[block]) return x;
    }
}

void GeneralState::enqueue(int c) {
    if (queued_[c]) return;
    queued_[c] = 1;
    int at = queue_head_ + queue_size_;
    if (at >= cliques_) at -= cliques_;
    queue_[at] = c;
    ++queue_size_;
}

void GeneralState::clear_queue() {
    while (queue_size_ > 0) {
        queued_[queue_[queue_head_]] = 0;
        if (++queue_head_ == cliques_) queue_head_ = 0;
        --queue_size_;
    }
}

void GeneralState::blame(int block) {
    int worst = kNone;
    for (int i = m_.entries.begin(block); i < m_.entries.end(block); ++i) {
        const int c = m_.entry_clique[m_.entries.values[i]];
        if (worst == kNone || state_[c].floor > state_[worst].floor) worst = c;
    }
    if (worst != kNone) bump(worst);
}

void GeneralState::save(int c) {
    if (saved_[c] == epoch_) return;
    saved_[c] = epoch_;
    state_trail_.emplace_back(c, state_[c]);
}

void GeneralState::unplace(int block) {
    for (int i = m_.entries.begin(block); i < m_.entries.end(block); ++i) {
        const int entry = m_.entries.values[i];
        const int c = m_.entry_clique[entry];
        ++count_[c];
        sum_[c] += entry_height(entry);
    }
    for (int c = m_.first_clique[block]; c < m_.last_clique[block]; ++c) ++crossing_[c];
}

}  // namespace memplan
