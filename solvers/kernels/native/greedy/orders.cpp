#include "greedy/orders.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "shared/radix_sort.hpp"
#include "greedy/range_maxima.hpp"

namespace memplan {

namespace {

// Doubles represent integers exactly up to here.
constexpr double kExact = 9007199254740992.0;

Keys keys(std::vector<std::uint64_t> values) {
    const std::uint64_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    return {std::move(values), static_cast<int>(std::bit_width(most))};
}

Keys keys_down(std::vector<std::uint64_t> values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const int bits = values.empty() ? 0 : static_cast<int>(std::bit_width(*most - *least));
    for (const std::uint64_t top = values.empty() ? 0 : *most; std::uint64_t& value : values) value = top - value;
    return {std::move(values), bits};
}

std::vector<std::uint64_t> areas(const std::vector<std::uint64_t>& size, const std::vector<std::uint64_t>& width) {
    double most = 0;
    for (std::size_t i = 0; i < size.size(); ++i) most = std::max(most, static_cast<double>(size[i]) * static_cast<double>(width[i]));
    std::vector<std::uint64_t> area(size.size());
    for (std::size_t i = 0; i < size.size(); ++i) {
        // Non-negative doubles are ordered like their bits.
        area[i] = most < kExact ? size[i] * width[i] : std::bit_cast<std::uint64_t>(static_cast<double>(size[i]) * static_cast<double>(width[i]));
    }
    return area;
}

// Calls each(block, start, end) for all rects, including those of empty parts.
template <typename Each>
void for_lives(const SearchInput& input, Each each) {
    for (std::size_t r = 0; r < input.rects(); ++r) {
        const auto block = static_cast<std::size_t>(input.part_block[static_cast<std::size_t>(input.rect_part[r])]);
        each(block, static_cast<std::uint64_t>(input.rect_start[r]), static_cast<std::uint64_t>(input.rect_end[r]));
    }
}

std::vector<std::uint64_t> sizes(const Blocks& blocks) { return {blocks.high.begin(), blocks.high.end()}; }

std::vector<std::uint64_t> widths(const Blocks& blocks) {
    std::vector<std::uint64_t> width(blocks.count, 0);
    for_lives(blocks.input, [&](std::size_t block, std::uint64_t start, std::uint64_t end) { width[block] += end - start; });
    return width;
}

std::vector<std::uint64_t> births(const Blocks& blocks) {
    std::vector<std::uint64_t> birth(blocks.count, static_cast<std::uint64_t>(blocks.input.sections));
    for_lives(blocks.input, [&](std::size_t block, std::uint64_t start, std::uint64_t) { birth[block] = std::min(birth[block], start); });
    return birth;
}

std::vector<std::uint64_t> deaths(const Blocks& blocks) {
    std::vector<std::uint64_t> death(blocks.count, 0);
    for_lives(blocks.input, [&](std::size_t block, std::uint64_t, std::uint64_t end) { death[block] = std::max(death[block], end); });
    return death;
}

// By block: the greatest sum of live sizes in any of its sections.
std::vector<std::uint64_t> totals(const Blocks& blocks) {
    const SearchInput& input = blocks.input;
    std::vector<Coord> load(static_cast<std::size_t>(input.sections) + 1, 0);
    for (const Rect& rect : blocks.rects) {
        load[rect.start] += rect.high - rect.low;
        load[rect.end] -= rect.high - rect.low;
    }
    for (std::size_t s = 1; s < load.size(); ++s) load[s] += load[s - 1];
    const RangeMaxima maxima(std::move(load));
    std::vector<std::uint64_t> total(blocks.count, 0);
    for_lives(input, [&](std::size_t block, std::uint64_t start, std::uint64_t end) {
        total[block] = std::max(total[block], static_cast<std::uint64_t>(maxima.of(start, end)));
    });
    return total;
}

}  // namespace

// Greatest first, except kBirth.
const std::vector<Orders::Order> Orders::kOrders{
    {"size", {kSize, kBirth}},
    {"area", {kArea, kSize}},
    {"width_area_total", {kWidth, kArea, kTotal}},
    {"total_area_width", {kTotal, kArea, kWidth}},
    {"total_width_area", {kTotal, kWidth, kArea}},
    {"total_size", {kTotal, kSize}},
    {"size_width", {kSize, kWidth}},
    {"width_size", {kWidth, kSize}},
    {"birth", {kBirth, kSize}},
    {"death", {kDeath, kSize}},
};

std::vector<std::string> Orders::names() {
    std::vector<std::string> names;
    for (const Order& order : kOrders) names.emplace_back(order.name);
    return names;
}

std::size_t Orders::number(std::string_view name) {
    for (std::size_t number = 0; number < kOrders.size(); ++number) {
        if (kOrders[number].name == name) return number;
    }
    throw BadInput("there is no order " + std::string(name));
}

Keys Orders::measured(Measure measure) const {
    switch (measure) {
        case kSize: return keys_down(sizes(*blocks_));
        case kWidth: return keys_down(widths(*blocks_));
        case kArea: return keys_down(areas(sizes(*blocks_), widths(*blocks_)));
        case kTotal: return keys_down(totals(*blocks_));
        case kBirth: return keys(births(*blocks_));
        case kDeath: return keys_down(deaths(*blocks_));
        case kMeasures: break;
    }
    throw BadInput("there is no such measure");
}

const Keys& Orders::keys_of(Measure measure) {
    std::call_once(measured_[measure], [&] { keys_[measure] = measured(measure); });
    return keys_[measure];
}

std::vector<Index> Orders::order(std::size_t number) {
    std::vector<Keyed> items(blocks_->count);
    for (Index i = 0; i < blocks_->count; ++i) items[i].item = i;
    // Sorts by the last key first, with as many keys at once as fit into a word.
    const std::vector<Measure>& measures = kOrders[number].measures;
    for (std::size_t end = measures.size(); end > 0;) {
        int bits = 0;
        std::size_t begin = end;
        while (begin > 0 && bits + keys_of(measures[begin - 1]).bits <= 64) bits += keys_of(measures[--begin]).bits;
        for (Keyed& item : items) item.key = 0;
        for (std::size_t m = begin; m < end; ++m) {
            const Keys& next = keys_of(measures[m]);
            // Keys of 64 bits stand alone: then there is nothing to shift.
            for (Keyed& item : items) item.key = (item.key << (next.bits % 64)) | next.values[item.item];
        }
        radix_sort(items);
        end = begin;
    }
    std::vector<Index> order(items.size());
    std::transform(items.begin(), items.end(), order.begin(), [](const Keyed& item) { return item.item; });
    std::stable_partition(order.begin(), order.end(), [&](Index block) { return blocks_->is_fixed(block); });
    return order;
}

}  // namespace memplan
