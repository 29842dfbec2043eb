// Sorting by a 64-bit key, stable, digit by digit.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace memplan {

struct Keyed {
    std::uint64_t key = 0;
    std::uint32_t item = 0;
};

template <int kBits>
void radix_sort_by_digits(std::vector<Keyed>& items) {
    constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
    std::uint64_t differing = 0;
    for (const Keyed& item : items) differing |= item.key ^ items.front().key;
    std::vector<Keyed> other(differing == 0 ? 0 : items.size());
    for (int shift = 0; shift < 64; shift += kBits) {
        if (((differing >> shift) & kMask) == 0) continue;
        std::array<std::uint32_t, kMask + 1> next{};
        for (const Keyed& item : items) ++next[(item.key >> shift) & kMask];
        std::uint32_t sum = 0;
        for (std::uint32_t& n : next) sum += std::exchange(n, sum);
        for (const Keyed& item : items) other[next[(item.key >> shift) & kMask]++] = item;
        items.swap(other);
    }
}

// Of few items, counting those of each digit takes longer than another digit.
inline void radix_sort(std::vector<Keyed>& items) {
    constexpr std::size_t kFew = 1024;
    if (items.size() < kFew) radix_sort_by_digits<8>(items);
    else radix_sort_by_digits<11>(items);
}

}  // namespace memplan
