// Placing and raising blocks, and undoing both.
#include "search/states/plain.hpp"

#include <algorithm>
#include <numeric>

namespace memplan {

template <typename C>
bool PlainState<C>::start(Coord height) {
    low_trail_.clear();
    state_trail_.clear();
    place_trail_.clear();
    floor_trail_.clear();
    clear_dirty();
    cut_ = true;
    ++epoch_;
    for (int j = 0; j < n_; ++j) {
        const Coord top = floor_div(height - m_.height[j] - m_.origin, m_.unit);
        const Coord high = align_down(m_, j, std::min({m_.highest[j], top, m_.ceiling - m_.size[j]}));
        const Coord low = next_start(m_, j, m_.lowest[j]);
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
        irregular_[c] = uneven_[c] || m_.obstacles.begin(c) < m_.obstacles.end(c);
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

template <typename C>
bool PlainState<C>::place(int block) {
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
        // The remaining members lie above the block. Where every member could be the lowest, the level follows without a full refresh, unless the
        // slack becomes negative.
        if (partial_[c] || irregular_[c] || count_[c] == 0) {
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

template <typename C>
bool PlainState<C>::raise(int block, Coord least) {
    const C before = low_[block];
    if (checked_) least = next_start(m_, block, least);
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
    }
    work_ += 4;
    return true;
}

template <typename C>
void PlainState<C>::blame(int block) {
    int worst = first_[block];
    if (free(block)) return;
    for (int c = worst; c <= last_[block]; ++c) {
        if (floor_[c] > floor_[worst]) worst = c;
    }
    bump(worst);
}

template <typename C>
typename PlainState<C>::Mark PlainState<C>::mark() {
    ++epoch_;
    return {low_trail_.size(), state_trail_.size(), place_trail_.size()};
}

template <typename C>
void PlainState<C>::undo(const Mark& mark) {
    clear_dirty();
    while (low_trail_.size() > mark.lows) {
        low_[low_trail_.back().first] = low_trail_.back().second;
        low_trail_.pop_back();
    }
    // Each placement builds on the state before it, so both trails are undone together, the latest first.
    while (place_trail_.size() > mark.places) {
        restore(place_trail_.back().second);
        unplace(place_trail_.back().first);
        place_trail_.pop_back();
    }
    restore(mark.states);
    cut_ = false;
    ++epoch_;
}

template <typename C>
void PlainState<C>::unplace(int block) {
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

template <typename C>
void PlainState<C>::restore(std::size_t states) {
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

template bool PlainState<std::int32_t>::start(Coord);
template bool PlainState<std::int32_t>::place(int);
template bool PlainState<std::int32_t>::raise(int, Coord);
template PlainState<std::int32_t>::Mark PlainState<std::int32_t>::mark();
template void PlainState<std::int32_t>::undo(const Mark&);
template bool PlainState<Coord>::start(Coord);
template bool PlainState<Coord>::place(int);
template bool PlainState<Coord>::raise(int, Coord);
template PlainState<Coord>::Mark PlainState<Coord>::mark();
template void PlainState<Coord>::undo(const Mark&);

}  // namespace memplan
