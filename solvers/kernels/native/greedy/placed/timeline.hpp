// Where long-lived rects are, as unions of addresses: what a query has to look at grows with the holes, not with what is placed.
//
// Time is cut into leaves, and pairs of leaves, and pairs of those, and so on as far as something lives that long. Each of these spans knows two
// sets of addresses: those taken throughout by something long that covers it (and no larger span), and those taken at any time within it, by
// short-lived rects too. A long rect that begins or ends within a leaf stands there with its times.
#pragma once

#include <vector>

#include "shared/blocks.hpp"
#include "greedy/placed/interval_sets.hpp"

namespace memplan {

// Which leaves a stretch of time touches.
struct Leaves {
    Index first, last;
    bool cut_first, cut_last;  // are they covered but in part? Of a single leaf the first speaks

    Leaves(Index start, Index end, Index shift) : first(start >> shift), last((end - 1) >> shift) {
        const Index within = (Index{1} << shift) - 1;
        cut_first = (start & within) != 0 || (first == last && (end & within) != 0);
        cut_last = (end & within) != 0 && first != last;
    }
    // The leaves that it covers.
    Index begin() const { return first + cut_first; }
    Index end() const { return last + 1 - cut_last; }
};

struct TimelineLayout {
    explicit TimelineLayout(const Blocks& blocks);

    // Does the rect cover a leaf?
    bool is_long(const Rect& rect) const {
        const Leaves at(rect.start, rect.end, shift);
        return at.begin() < at.end();
    }
    // Is nothing long?
    bool is_empty() const { return first_span.empty(); }
    std::size_t spans() const { return is_empty() ? 0 : first_span.back(); }

    Index shift = 0;                 // a leaf is 2^shift sections long
    Index top = 0;                   // the level of the largest spans; leaves are level 0
    std::vector<Index> first_span;   // of each level, the number of its first span among all; and one more
    std::vector<Index> first_entry;  // of each leaf, its first place for a rect that begins or ends in it; and one more
};

// A rect as its leaf knows it.
struct Entry {
    Interval addresses;
    Index start = 0, end = 0;
};

class Timeline {
public:
    explicit Timeline(const TimelineLayout& layout);

    void clear();
    // How many entries there may be.
    std::size_t room() const { return entries_.size(); }
    // Something long-lived.
    void place(const Rect& rect);
    // Something short-lived, which is placed elsewhere: here only those that cover it all see it.
    void note(const Rect& rect);
    // Calls visit(intervals) for sorted stretches of addresses, look(entries) for entries, sorted by address, whose times are to be compared,
    // and rest(start, end) for times in which what was only noted is to be looked for: all that is taken at some time in [start, end).
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
    // Taken at some time within this span, hence within all that contain it.
    void touch(Index level, Index number, Interval addresses);

    const TimelineLayout* layout_;
    IntervalSets throughout_, sometime_;
    std::vector<Index> used_;  // how many of each leaf's places
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
    // What covers more than these spans: the spans that contain the first or the last leaf.
    for (Index level = 0, first = at.first, last = at.last; level <= layout_->top; ++level, first >>= 1, last >>= 1) {
        visit(throughout_.of(span(level, first)));
        if (first != last) visit(throughout_.of(span(level, last)));
    }
}

}  // namespace memplan
