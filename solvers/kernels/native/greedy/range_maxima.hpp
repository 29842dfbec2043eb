// The maximum of any range of a fixed array: maxima of strips, a table of doubling ranges of strips, and scans at both ends.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace memplan {

class RangeMaxima {
public:
    explicit RangeMaxima(std::vector<std::int64_t> values) : values_(std::move(values)) {
        const std::size_t strips = (values_.size() + kStrip - 1) / kStrip;
        table_.emplace_back(strips);
        for (std::size_t s = 0; s < strips; ++s) table_[0][s] = scan(s * kStrip, std::min(values_.size(), (s + 1) * kStrip));
        for (std::size_t reach = 1; 2 * reach <= strips; reach *= 2) {
            const std::vector<std::int64_t>& half = table_.back();
            std::vector<std::int64_t> whole(strips - 2 * reach + 1);
            for (std::size_t s = 0; s < whole.size(); ++s) whole[s] = std::max(half[s], half[s + reach]);
            table_.push_back(std::move(whole));
        }
    }

    // The maximum from begin to before end; the range must not be empty.
    std::int64_t of(std::size_t begin, std::size_t end) const {
        const std::size_t first = (begin + kStrip - 1) / kStrip, last = end / kStrip;
        if (first >= last) return scan(begin, end);
        const auto level = static_cast<std::size_t>(std::bit_width(last - first) - 1);
        std::int64_t most = std::max(table_[level][first], table_[level][last - (std::size_t{1} << level)]);
        if (begin < first * kStrip) most = std::max(most, scan(begin, first * kStrip));
        if (last * kStrip < end) most = std::max(most, scan(last * kStrip, end));
        return most;
    }

private:
    static constexpr std::size_t kStrip = 32;

    std::int64_t scan(std::size_t begin, std::size_t end) const {
        std::int64_t most = values_[begin];
        for (std::size_t i = begin + 1; i < end; ++i) most = std::max(most, values_[i]);
        return most;
    }

    std::vector<std::int64_t> values_;
    std::vector<std::vector<std::int64_t>> table_;
};

}  // namespace memplan
