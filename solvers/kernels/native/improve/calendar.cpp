#include "improve/calendar.hpp"

#include <bit>
#include <tuple>

namespace memplan {

LifeCalendar::LifeCalendar(const Blocks& blocks) {
    const auto class_of = [](const Living& living) { return std::bit_width(living.end - living.start - 1); };
    items_.reserve(blocks.rects.size());
    for (Index block = 0; block < blocks.count; ++block) {
        for (const Rect& rect : blocks.rects_of(block)) items_.push_back({rect.start, rect.end, block, rect.part, rect.low, rect.high});
    }
    std::sort(items_.begin(), items_.end(), [&](const Living& a, const Living& b) {
        return std::tuple(class_of(a), a.start, a.block, a.part) < std::tuple(class_of(b), b.start, b.block, b.part);
    });
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const auto place = static_cast<std::ptrdiff_t>(i);
        if (i == 0 || class_of(items_[i]) != class_of(items_[i - 1])) levels_.push_back({0, place, place});
        levels_.back().longest = std::max(levels_.back().longest, items_[i].end - items_[i].start);
        levels_.back().end = place + 1;
    }
}

}  // namespace memplan
