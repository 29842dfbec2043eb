#include "greedy/placed/interval_sets.hpp"

#include <algorithm>
#include <bit>

namespace memplan {

namespace {

constexpr std::uint32_t kFirstRoom = 2;

}  // namespace

bool IntervalSets::add(std::size_t which, Interval added) {
    Set& set = sets_[which];
    Interval* const begin = memory_.data() + set.first;
    Interval* const end = begin + set.size;
    // All from first to last touch the added interval.
    Interval* const first = std::lower_bound(begin, end, added.low, [](const Interval& each, Coord low) { return each.high < low; });
    Interval* last = first;
    while (last != end && last->low <= added.high) ++last;
    if (first != last) {
        if (first->low <= added.low && added.high <= first->high) return false;
        first->low = std::min(first->low, added.low);
        first->high = std::max((last - 1)->high, added.high);
        std::copy(last, end, first + 1);
        set.size -= static_cast<std::uint32_t>(last - first - 1);
        return true;
    }
    const auto at = static_cast<std::size_t>(first - begin);
    if (set.size == set.room) grow(set);
    Interval* const place = memory_.data() + set.first + at;
    std::copy_backward(place, place + (set.size - at), place + (set.size - at) + 1);
    *place = added;
    ++set.size;
    return true;
}

void IntervalSets::grow(Set& set) {
    const std::uint32_t room = std::max(kFirstRoom, 2 * set.room), old = set.first;
    std::vector<std::uint32_t>& free = free_[static_cast<std::size_t>(std::bit_width(room))];
    if (free.empty()) {
        set.first = static_cast<std::uint32_t>(memory_.size());
        memory_.resize(memory_.size() + room);
    } else {
        set.first = free.back();
        free.pop_back();
    }
    std::copy_n(memory_.begin() + old, set.size, memory_.begin() + set.first);
    if (set.room > 0) free_[static_cast<std::size_t>(std::bit_width(set.room))].push_back(old);
    set.room = room;
}

void IntervalSets::clear() {
    std::fill(sets_.begin(), sets_.end(), Set{});
    memory_.clear();
    for (auto& free : free_) free.clear();
}

}  // namespace memplan
