// The innermost loops of the search, over one row of blocks. Compiled for wide registers, too, and chosen at load time: the results are
// integers and the same everywhere.
#pragma once

#include <cstdint>

namespace memplan {

template <typename C>
struct Lowest {
    C end;           // earliest end of a member that can be the lowest
    int candidates;  // how many can
};

// Copies the lows of the blocks of a row side by side, and returns the least.
std::int32_t gather_lows(const int* block, const std::int32_t* low_of, std::int32_t* low, int count);
std::int64_t gather_lows(const int* block, const std::int64_t* low_of, std::int64_t* low, int count);

// Among members with these lows and sizes: those at or below reach.
Lowest<std::int32_t> scan_lows(const std::int32_t* low, const std::int32_t* size, std::int32_t reach, int count);
Lowest<std::int64_t> scan_lows(const std::int64_t* low, const std::int64_t* size, std::int64_t reach, int count);

// How many lows lie strictly between the two.
int count_between(const std::int32_t* low, std::int32_t above, std::int32_t below, int count);
int count_between(const std::int64_t* low, std::int64_t above, std::int64_t below, int count);

// Which rows must be looked at again after a member rose from low to next. Members that could not be the lowest change nothing; others do
// if they cease to be able to be, or if some members already cannot be the lowest (partial, 0 or 1). Otherwise a row that held still holds.
// Returns whether there is one.
bool mark_changed(std::int32_t* dirty, const std::int32_t* reach, const std::int32_t* partial, std::int32_t low,
                  std::int32_t next, int count);
bool mark_changed(std::int64_t* dirty, const std::int64_t* reach, const std::int64_t* partial, std::int64_t low,
                  std::int64_t next, int count);

// No row is changed by a member that rises to this or less.
std::int32_t least_patience(const std::int32_t* reach, const std::int32_t* partial, int count);
std::int64_t least_patience(const std::int64_t* reach, const std::int64_t* partial, int count);

}  // namespace memplan
