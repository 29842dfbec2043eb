// A column of 64-bit integers that belongs to somebody else (a numpy array, most often): nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memplan {

struct Column {
    const std::int64_t* data = nullptr;
    std::size_t size = 0;
    std::int64_t stride = 1;  // in items, not bytes: a slice of a matrix is a column too

    std::int64_t operator[](std::size_t i) const { return data[static_cast<std::ptrdiff_t>(i) * stride]; }
};

}  // namespace memplan
