// The addresses of long-lived rects, as unions: a query takes time for the holes, not for the placed rects.
#pragma once

#include <vector>

#include "shared/blocks.hpp"
#include "greedy/placed/interval_sets.hpp"

namespace memplan {

// The leaves that a range of time touches.
struct Leaves {
    Index first, last;
    bool cut_first, cut_last;  // true if it is covered in part; of a single leaf, only the first counts

    Leaves(Index start, Index end, Index shift) : first(start >> shift), last((end - 1) >> shift) {
        const Index within = (Index{1} << shift) - 1;
        cut_first = (start & within) != 0 || (first == last && (end & within) != 0);
        cut_last = (end & within) != 0 && first != last;
    }
    // The leaves that it covers entirely.
    Index begin() const { return first + cut_first; }
    Index end() const { return last + 1 - cut_last; }
};

struct TimelineLayout {
    explicit TimelineLayout(const Blocks& blocks);

    // True if the rect covers a leaf.
    bool is_long(const Rect& rect) const {
        const Leaves at(rect.start, rect.end, shift);
        return at.begin() < at.end();
    }
    // True if no rect is long.
    bool is_empty() const { return first_span.empty(); }
    std::size_t spans() const { return is_empty() ? 0 : first_span.back(); }

    Index shift = 0;                 // a leaf is 2^shift sections long
    Index top = 0;                   // level of the largest spans; leaves are level 0
    std::vector<Index> first_span;   // by level: number of its first span among all, with one more at the end
    std::vector<Index> first_entry;  // by leaf: its first entry for a rect that begins or ends in it, with one more at the end
};

// A rect as stored in a leaf.
struct Entry {
    Interval addresses;
    Index start = 0, end = 0;
};

class Timeline {
public:
    explicit Timeline(const TimelineLayout& layout);

    void clear();
    // The number of entries that fit.
    std::size_t room() const { return entries_.size(); }
    // Adds a long-lived rect.
    void place(const Rect& rect);
    // Notes a short-lived rect, which is stored elsewhere: only queries for spans around it see it here.
    void note(const Rect& rect);
    // Visits all addresses occupied at some time in [start, end): visit(intervals) gets sorted intervals; look(entries) gets entries by address whose
    // times must be compared; rest(start, end) gets times in which noted rects must be looked up.
    template <typename Visit, typename Look, typename Rest>
    void near(Index start, Index end, Visit visit, Look look, Rest rest) const;

private:
    // Calls each(level, span) for the largest spans that make up the leaves [begin, end).
    template <typename Each>
    void cover(Index begin, Index end, Each each) const {
        for (Index level = 0; begin < end; ++level) {
            if (level == layout_->top) {
                while (begin < end) each(level, begin++);
                return;
            }
            if (begin & 1) each(level, begin++);
            if (end & 1) each(level, --end);
            begin >>= 1, end >>= 1;
        }
    }
    Index span(Index level, Index number) const { return layout_->first_span[level] + number; }
    void enter(Index leaf, const Rect& rect);
    // Marks addresses as occupied at some time within this span and all that contain it.
    void touch(Index level, Index number, Interval addresses);

    const TimelineLayout* layout_;
    IntervalSets throughout_, sometime_;
    std::vector<Index> used_;  // by leaf: number of used entries
    std::vector<Entry> entries_;
};

template <typename Visit, typename Look, typename Rest>
void Timeline::near(Index start, Index end, Visit visit, Look look, Rest rest) const {
    if (layout_->is_empty()) return rest(start, end);
    const Leaves at(start, end, layout_->shift);
    const auto look_at = [&](Index leaf) {
        if (used_[leaf] > 0) look(std::span(entries_).subspan(layout_->first_entry[leaf], used_[leaf]));
    };
    if (at.begin() >= at.end()) {
        rest(start, end);
    } else {
        if (at.cut_first) rest(start, at.begin() << layout_->shift);
        if (at.cut_last) rest(at.end() << layout_->shift, end);
    }
    if (at.cut_first) look_at(at.first);
    if (at.cut_last) look_at(at.last);
    cover(at.begin(), at.end(), [&](Index level, Index number) { visit(sometime_.of(span(level, number))); });
    // Rects that cover more than these spans: in the spans that contain the first or the last leaf.
    for (Index level = 0, first = at.first, last = at.last; level <= layout_->top; ++level, first >>= 1, last >>= 1) {
        visit(throughout_.of(span(level, first)));
        if (first != last) visit(throughout_.of(span(level, last)));
    }
}

}  // namespace memplan
