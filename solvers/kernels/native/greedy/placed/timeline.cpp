#include "greedy/placed/timeline.hpp"

#include <algorithm>
#include <bit>

namespace memplan {

namespace {

// Average number of rects that begin or end in a leaf: fewer make more spans, more make longer lists.
constexpr std::uint64_t kFilling = 256;
// Leaves are this many times longer than usual rects, for which the calendar is better.
constexpr std::uint64_t kStretch = 2;
constexpr Index kWidestShift = 30;

// The length that nine of ten rects do not exceed.
Index usual_length(const Blocks& blocks) {
    std::vector<Index> lengths;
    for (const Rect& rect : blocks.rects) lengths.push_back(rect.end - rect.start);
    const auto most = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() * 9 / 10);
    std::nth_element(lengths.begin(), most, lengths.end());
    return *most;
}

}  // namespace

TimelineLayout::TimelineLayout(const Blocks& blocks) {
    if (blocks.rects.empty()) return;
    const auto sections = static_cast<std::uint64_t>(blocks.input.sections);
    const std::uint64_t usual = usual_length(blocks);
    const auto is_narrow = [&] { return ((2 * blocks.rects.size()) << shift) < kFilling * sections || (std::uint64_t{1} << shift) < kStretch * usual; };
    while (shift < kWidestShift && is_narrow()) ++shift;
    const auto leaves = static_cast<Index>(sections >> shift) + 1;
    first_entry.assign(std::size_t{leaves} + 1, 0);
    Index most = 0;
    for (const Rect& rect : blocks.rects) {
        if (!is_long(rect) || blocks.is_told_apart(rect)) continue;
        const Leaves at(rect.start, rect.end, shift);
        if (at.cut_first) ++first_entry[at.first + 1];
        if (at.cut_last) ++first_entry[at.last + 1];
        most = std::max(most, at.end() - at.begin());
    }
    if (most == 0) return;
    for (std::size_t leaf = 1; leaf < first_entry.size(); ++leaf) first_entry[leaf] += first_entry[leaf - 1];
    top = static_cast<Index>(std::bit_width(most)) - 1;
    first_span.push_back(0);
    for (Index level = 0; level <= top; ++level) first_span.push_back(first_span.back() + ((leaves - 1) >> level) + 1);
}

Timeline::Timeline(const TimelineLayout& layout)
    : layout_(&layout), throughout_(layout.spans()), sometime_(layout.spans()), used_(layout.first_entry.size(), 0),
      entries_(layout.is_empty() ? 0 : layout.first_entry.back()) {}

void Timeline::clear() {
    throughout_.clear();
    sometime_.clear();
    std::fill(used_.begin(), used_.end(), Index{0});
}

void Timeline::place(const Rect& rect) {
    const Leaves at(rect.start, rect.end, layout_->shift);
    const Interval addresses{rect.low, rect.high};
    if (at.cut_first) enter(at.first, rect);
    if (at.cut_last) enter(at.last, rect);
    cover(at.begin(), at.end(), [&](Index level, Index number) {
        throughout_.add(span(level, number), addresses);
        touch(level, number, addresses);
    });
}

void Timeline::note(const Rect& rect) {
    const Leaves at(rect.start, rect.end, layout_->shift);
    for (Index leaf = at.first; leaf <= at.last; ++leaf) touch(0, leaf, {rect.low, rect.high});
}

void Timeline::enter(Index leaf, const Rect& rect) {
    Entry* const begin = entries_.data() + layout_->first_entry[leaf];
    Entry* const end = begin + used_[leaf]++;
    Entry* const at = std::upper_bound(begin, end, rect.low, [](Coord low, const Entry& other) { return low < other.addresses.low; });
    std::move_backward(at, end, end + 1);
    *at = {{rect.low, rect.high}, rect.start, rect.end};
    touch(0, leaf, at->addresses);
}

void Timeline::touch(Index level, Index number, Interval addresses) {
    while (sometime_.add(span(level, number), addresses) && level < layout_->top) ++level, number >>= 1;
}

}  // namespace memplan
