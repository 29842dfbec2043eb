// The innermost loops of the search, over one row of blocks. They are also compiled for wide registers; the version is chosen at load time. All
// results are integers and equal.
#pragma once

#include <cstdint>

namespace memplan {

template <typename C>
struct Lowest {
    C end;           // earliest end of a member that can be the lowest
    int candidates;  // number of such members
};

// Copies the lows of a row's blocks side by side and returns the least.
std::int32_t gather_lows(const int* block, const std::int32_t* low_of, std::int32_t* low, int count);
std::int64_t gather_lows(const int* block, const std::int64_t* low_of, std::int64_t* low, int count);

// Over the members with lows at or below reach.
Lowest<std::int32_t> scan_lows(const std::int32_t* low, const std::int32_t* size, std::int32_t reach, int count);
Lowest<std::int64_t> scan_lows(const std::int64_t* low, const std::int64_t* size, std::int64_t reach, int count);

// Counts the lows strictly between the two.
int count_between(const std::int32_t* low, std::int32_t above, std::int32_t below, int count);
int count_between(const std::int64_t* low, std::int64_t above, std::int64_t below, int count);

// Marks the rows to refresh after a member rose from low to next. Raising a member matters if it could be the lowest before, and either no longer can
// or some other already could not (partial, 0 or 1). Returns true if any row was marked.
bool mark_changed(std::int32_t* dirty, const std::int32_t* reach, const std::int32_t* partial, std::int32_t low,
                  std::int32_t next, int count);
bool mark_changed(std::int64_t* dirty, const std::int64_t* reach, const std::int64_t* partial, std::int64_t low,
                  std::int64_t next, int count);

// No row changes if a member is raised to at most this.
std::int32_t least_patience(const std::int32_t* reach, const std::int32_t* partial, int count);
std::int64_t least_patience(const std::int64_t* reach, const std::int64_t* partial, int count);

}  // namespace memplan
