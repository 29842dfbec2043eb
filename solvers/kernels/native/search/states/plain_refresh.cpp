// The bounds that cliques put on their members.
#include "search/states/plain.hpp"

#include <algorithm>
#include <numeric>

namespace memplan {

template <typename C>
bool PlainState<C>::settle() {
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

template <typename C>
bool PlainState<C>::refresh(int c) {
    const int count = count_[c], length = length_[c];
    save(c);
    if (count == 0) {
        floor_[c] = 0, reach_[c] = kPlaced, candidates_[c] = 0, partial_[c] = 0;
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
        reach = room_to(c, ceiling_[c]);
    }
    if (reach < floor) {
        bump(c);
        return false;
    }
    // Members that cannot be the lowest lie above the earliest end of those that can.
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

template <typename C>
int PlainState<C>::last_if_sure(int c, C floor, C& reach) {
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
    reach = room_to(c, highest);
    return reach >= floor && second - floor < sum_[c] ? last : kNone;
}

template bool PlainState<std::int32_t>::settle();
template bool PlainState<Coord>::settle();

}  // namespace memplan
