// Arrays that are read in no order: large ones use large pages of memory, where the machine has them.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace memplan {

template <typename T>
class LargePages {
public:
    using value_type = T;

    LargePages() = default;
    template <typename Other>
    LargePages(const LargePages<Other>&) {}

    T* allocate(std::size_t count) {
        if (!is_large(count)) return static_cast<T*>(::operator new(count * sizeof(T), kUsual));
        void* const memory = ::operator new(count * sizeof(T), kPage);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        static_cast<void>(madvise(memory, count * sizeof(T), MADV_HUGEPAGE));  // only advice: without it the code is slower
#endif
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t count) { ::operator delete(memory, is_large(count) ? kPage : kUsual); }

    bool operator==(const LargePages&) const { return true; }

private:
    static constexpr std::align_val_t kUsual{alignof(T)}, kPage{std::size_t{1} << 21};
    static bool is_large(std::size_t count) { return count * sizeof(T) >= 2 * static_cast<std::size_t>(kPage); }
};

template <typename T>
using Large = std::vector<T, LargePages<T>>;

}  // namespace memplan
