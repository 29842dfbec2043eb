// The maximum of any range of a fixed array: a table of doubling ranges of strips, and in each strip the maxima up to and from every place.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace memplan {

class RangeMaxima {
public:
    explicit RangeMaxima(std::vector<std::int64_t> values) : values_(std::move(values)), up_to_(values_), from_(values_) {
        const std::size_t strips = (values_.size() + kStrip - 1) / kStrip;
        for (std::size_t i = 1; i < values_.size(); ++i) {
            if (i % kStrip != 0) up_to_[i] = std::max(up_to_[i], up_to_[i - 1]);
        }
        for (std::size_t i = values_.size(); i-- > 1;) {
            if (i % kStrip != 0) from_[i - 1] = std::max(from_[i - 1], from_[i]);
        }
        table_.emplace_back(strips);
        for (std::size_t s = 0; s < strips; ++s) table_[0][s] = from_[s * kStrip];
        for (std::size_t reach = 1; 2 * reach <= strips; reach *= 2) {
            const std::vector<std::int64_t>& half = table_.back();
            std::vector<std::int64_t> whole(strips - 2 * reach + 1);
            for (std::size_t s = 0; s < whole.size(); ++s) whole[s] = std::max(half[s], half[s + reach]);
            table_.push_back(std::move(whole));
        }
    }

    // The maximum from begin to before end; the range must not be empty.
    std::int64_t of(std::size_t begin, std::size_t end) const {
        const std::size_t first = begin / kStrip + 1, last = (end - 1) / kStrip;
        if (first > last) return *std::max_element(values_.begin() + static_cast<std::ptrdiff_t>(begin), values_.begin() + static_cast<std::ptrdiff_t>(end));
        const std::int64_t most = std::max(from_[begin], up_to_[end - 1]);
        if (first == last) return most;
        const auto level = static_cast<std::size_t>(std::bit_width(last - first) - 1);
        return std::max({most, table_[level][first], table_[level][last - (std::size_t{1} << level)]});
    }

private:
    static constexpr std::size_t kStrip = 32;

    std::vector<std::int64_t> values_, up_to_, from_;
    std::vector<std::vector<std::int64_t>> table_;
};

}  // namespace memplan
