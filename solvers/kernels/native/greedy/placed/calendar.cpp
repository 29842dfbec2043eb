#include "greedy/placed/calendar.hpp"

#include <algorithm>
#include <array>

namespace memplan {

namespace {

constexpr Index kClasses = 18;
constexpr Index kWidestShift = 31;
// Rarely filled buckets cost more than long ones.
constexpr std::uint64_t kFilling = 4;

// Inserts into `count` items sorted by address.
template <typename Each>
void insert(Each* begin, Index count, const Each& added) {
    Each* const end = begin + count;
    Each* const at = std::upper_bound(begin, end, added.low, [](auto low, const Each& other) { return low < other.low; });
    std::move_backward(at, end, end + 1);
    *at = added;
}

}  // namespace

CalendarLayout::CalendarLayout(const Blocks& blocks, const std::function<bool(const Rect&)>& takes) : level_of_length_(kClasses, 0) {
    std::array<std::uint64_t, kClasses> count{};
    std::array<Index, kClasses> longest{};
    for (const Rect& rect : blocks.rects) {
        if (!takes(rect)) continue;
        const Index length = rect.end - rect.start, c = class_of(length);
        ++count[c];
        longest[c] = std::max(longest[c], length);
    }
    const auto sections = static_cast<std::uint64_t>(blocks.input.sections);
    Index buckets = 0;
    for (Index c = 0; c < kClasses; ++c) {
        if (count[c] == 0) continue;
        Index shift = static_cast<Index>(std::bit_width(longest[c] - 1));
        while (shift < kWidestShift && (count[c] << shift) < kFilling * sections) ++shift;
        level_of_length_[c] = static_cast<Index>(levels.size());
        levels.push_back({longest[c], shift, buckets});
        buckets += static_cast<Index>((sections - 1) >> shift) + 1;
    }
    first_slot.assign(std::size_t{buckets} + 1, 0);
    for (const Rect& rect : blocks.rects) {
        if (takes(rect)) ++first_slot[bucket_of(rect) + 1];
    }
    for (std::size_t b = 1; b < first_slot.size(); ++b) first_slot[b] += first_slot[b - 1];
}

Calendar::Calendar(const CalendarLayout& layout, bool has_parts)
    : layout_(&layout), used_(layout.first_slot.size() - 1, 0), is_narrow_(!has_parts), narrow_(has_parts ? 0 : room()), rects_(has_parts ? room() : 0) {}

void Calendar::clear() { std::fill(used_.begin(), used_.end(), Index{0}); }

void Calendar::place(const Rect& rect) {
    if (is_narrow_ && rect.high > Coord{UINT32_MAX}) widen();
    const Index bucket = layout_->bucket_of(rect), slot = layout_->first_slot[bucket], used = used_[bucket]++;
    if (is_narrow_) {
        insert(narrow_.data() + slot, used, {static_cast<std::uint32_t>(rect.low), static_cast<std::uint32_t>(rect.high), rect.start, rect.end});
    } else {
        insert(rects_.data() + slot, used, rect);
    }
}

void Calendar::widen() {
    rects_.resize(room());
    for (std::size_t bucket = 0; bucket < used_.size(); ++bucket) {
        const Index first = layout_->first_slot[bucket];
        for (Index slot = first; slot < first + used_[bucket]; ++slot) {
            const Narrow& known = narrow_[slot];
            rects_[slot] = {known.low, known.high, known.start, known.end, kNone};
        }
    }
    narrow_ = {};
    is_narrow_ = false;
}

}  // namespace memplan
