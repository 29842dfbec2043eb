#include "search/states/rows.hpp"

#include <limits>
#include <type_traits>

// Function multiversioning needs the dynamic linker, and the sanitizers start too late for it.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MEMPLAN_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define MEMPLAN_WIDE
#endif

namespace memplan {

namespace {

template <typename C>
[[gnu::always_inline]] inline C gather(const int* block, const C* low_of, C* __restrict low, int count) {
    for (int i = 0; i < count; ++i) low[i] = low_of[block[i]];
    C least = std::numeric_limits<C>::max();
    for (int i = 0; i < count; ++i) least = low[i] < least ? low[i] : least;
    return least;
}

template <typename C>
[[gnu::always_inline]] inline Lowest<C> scan(const C* low, const C* size, C reach, int count) {
    C end = std::numeric_limits<C>::max();
    C candidates = 0;
    for (int i = 0; i < count; ++i) {
        // Masks avoid a branch. Placed blocks have the greatest low; their sums may overflow without effect.
        const C can = static_cast<C>(-static_cast<C>(low[i] <= reach));
        const C end_of = static_cast<C>(static_cast<std::make_unsigned_t<C>>(low[i]) + static_cast<std::make_unsigned_t<C>>(size[i]));
        const C top = (end_of & can) | (std::numeric_limits<C>::max() & ~can);
        candidates -= can;
        end = top < end ? top : end;
    }
    return {end, static_cast<int>(candidates)};
}

template <typename C>
[[gnu::always_inline]] inline int between(const C* low, C above, C below, int count) {
    C many = 0;
    for (int i = 0; i < count; ++i) many += (low[i] > above) & (low[i] < below) ? 1 : 0;
    return static_cast<int>(many);
}

template <typename C>
[[gnu::always_inline]] inline bool mark(C* __restrict dirty, const C* reach, const C* partial, C low, C next, int count) {
    C any = 0;
    for (int i = 0; i < count; ++i) {
        const C leaves = static_cast<C>(next > reach[i]);
        const C changed = static_cast<C>(low <= reach[i]) & (leaves | partial[i]);
        dirty[i] |= changed;
        any |= changed;
    }
    return any != 0;
}

template <typename C>
[[gnu::always_inline]] inline C patience(const C* reach, const C* partial, int count) {
    C least = std::numeric_limits<C>::max();
    for (int i = 0; i < count; ++i) {
        const C until = partial[i] ? -1 : reach[i];
        least = until < least ? until : least;
    }
    return least;
}

}  // namespace

MEMPLAN_WIDE std::int32_t gather_lows(const int* block, const std::int32_t* low_of, std::int32_t* low, int count) {
    return gather(block, low_of, low, count);
}
MEMPLAN_WIDE std::int64_t gather_lows(const int* block, const std::int64_t* low_of, std::int64_t* low, int count) {
    return gather(block, low_of, low, count);
}
MEMPLAN_WIDE Lowest<std::int32_t> scan_lows(const std::int32_t* low, const std::int32_t* size, std::int32_t reach, int count) {
    return scan(low, size, reach, count);
}
MEMPLAN_WIDE Lowest<std::int64_t> scan_lows(const std::int64_t* low, const std::int64_t* size, std::int64_t reach, int count) {
    return scan(low, size, reach, count);
}
MEMPLAN_WIDE int count_between(const std::int32_t* low, std::int32_t above, std::int32_t below, int count) {
    return between(low, above, below, count);
}
MEMPLAN_WIDE int count_between(const std::int64_t* low, std::int64_t above, std::int64_t below, int count) {
    return between(low, above, below, count);
}
MEMPLAN_WIDE bool mark_changed(std::int32_t* dirty, const std::int32_t* reach, const std::int32_t* partial, std::int32_t low,
                               std::int32_t next, int count) {
    return mark(dirty, reach, partial, low, next, count);
}
MEMPLAN_WIDE std::int32_t least_patience(const std::int32_t* reach, const std::int32_t* partial, int count) {
    return patience(reach, partial, count);
}
MEMPLAN_WIDE bool mark_changed(std::int64_t* dirty, const std::int64_t* reach, const std::int64_t* partial, std::int64_t low,
                               std::int64_t next, int count) {
    return mark(dirty, reach, partial, low, next, count);
}
MEMPLAN_WIDE std::int64_t least_patience(const std::int64_t* reach, const std::int64_t* partial, int count) {
    return patience(reach, partial, count);
}

}  // namespace memplan
