// One pass: the blocks in a given order, each at the base that a fit chooses among those that what is placed already leaves open.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "greedy/placed/calendar.hpp"
#include "greedy/placed/timeline.hpp"

namespace memplan {

enum class Fit { kLowest, kBest };

// By the names of solvers/fitting/gaps.py. Throws BadInput where there is no such fit.
Fit fit_named(std::string_view name);

// What may end a pass, or make it hurry.
struct PassLimits {
    std::vector<Coord> highest_end;          // of each component: a block that would end above it ends the component; -1: not even begun
    const std::atomic<bool>* stop = nullptr;  // ends the pass,
    bool finish = false;                      // unless it has to be finished: then what is left is stacked on top
    std::function<bool()> hurries;            // asked every now and then: is what is left to be stacked on top from now on?
    const std::atomic<Index>* last_pass = nullptr;  // no pass above this is of use any more
    Index number = 0;
};

struct PassResult {
    bool ended = true;         // false: stopped on the way
    std::vector<Coord> tops;   // of each component: where its highest block ends; -1 if it was given up
};

// What all passes over the same blocks share.
struct Layout {
    explicit Layout(const Blocks& blocks);

    TimelineLayout timeline;       // what is long-lived,
    CalendarLayout short_lived;    // what is not,
    CalendarLayout told_apart;     // and, of either kind, what has friends

    // What placing a block asks for, side by side: where blocks come in no order, each place in memory costs a wait.
    struct alignas(64) Row {
        Coord lowest = 0, highest = 0, modulus = 1, residue = 0, high = 0;
        Index component = 0, first_rect = 0, rects = 0;
    };
    Large<Row> rows;
    Coord walls_end = 0;           // of the highest wall
    // From when to when a block lives, whatever lies between.
    struct Life {
        Index start = kNone, end = 0;
    };
    Large<Life> lives;       // of each block; empty where there is nothing to be probed
    Index fullest = 0;             // the section with the most in it
};

class Pass {
public:
    Pass(const Blocks& blocks, const Layout& layout);

    PassResult run(std::span<const Index> order, Fit fit, const PassLimits& limits);
    // Where the last run put each block; of a component that was given up only some count.
    std::span<const Coord> offsets() const { return offsets_; }

private:
    // Goes through the order; false: stopped on the way.
    bool place_all(std::span<const Index> order, Fit fit, const PassLimits& limits, PassResult& result);
    // The part of the order that decides where what lives in a section comes to lie; nothing where it is a large part of all.
    std::span<const Index> deciding(std::span<const Index> order, Index section);
    void given_up_at(Index block);
    void clear();
    // Addresses that are taken, sorted, as one part of the block to be placed meets them.
    struct Run {
        const Interval* at;
        const Interval* end;
        Coord low, high;  // of the part
    };

    // Ask the memory for what placing the block will need: in steps, since where one thing is stands in another.
    void fetch_row(Index block) const;
    std::span<const Rect> rects_of(Index block) const {
        const Layout::Row& row = layout_->rows[block];
        return std::span(blocks_->rects).subspan(row.first_rect, row.rects);
    }
    void fetch_neighbours(Index block) const;
    void collect(Index block);
    void collect_short_lived(const Rect& own, Index start, Index end);
    void collect_told_apart(const Rect& own);
    void collect_foes(Index part);
    // Without a branch: what lives together and what does not comes in no order.
    void copy_if(bool wanted, Interval addresses) {
        copied_[filled_] = addresses;
        filled_ += wanted;
    }
    // What was copied since then is a run.
    void add_copied(std::size_t since, Coord low, Coord high);
    // A block of a single rect: it looks at what is long-lived once, and at what is short-lived twice at most, at either end of its life.
    bool is_plain(Index block) const { return layout_->rows[block].rects <= 1 && blocks_->solid_parts.empty(); }
    void make_room(std::size_t most);
    std::size_t most_copies(Index block) const;
    // The least open base from `base` on, or none up to `highest`.
    std::optional<Coord> open_from(Coord base, Coord highest);
    std::optional<Coord> tightest_from(Coord base, Coord highest, Coord give_up);
    // Of the next thing above an open base: where it begins and ends as bases that it closes.
    std::optional<std::pair<Coord, Coord>> next_closed();
    std::optional<Coord> base_of(Index block, Fit fit, Coord highest_end);
    std::optional<Coord> stacked(Index block, Coord peak) const;
    void put(Index block, Coord base);
    Coord aligned(Coord base) const;

    const Blocks* blocks_;
    const Layout* layout_;
    Timeline timeline_;
    Calendar short_lived_, told_apart_;
    Large<Coord> offsets_;
    std::vector<std::uint8_t> placed_;  // only where conflicts ask for it
    std::vector<Run> runs_;
    struct Deleted {
        void operator()(Interval* intervals) const { ::operator delete(intervals); }
    };
    std::unique_ptr<Interval[], Deleted> copied_;
    std::size_t room_ = 0, filled_ = 0;
    Coord modulus_ = 1, residue_ = 0;
    Index alive_ = 0;  // components that are not given up
    Coord peak_ = 0;
    std::vector<Index> spots_;     // sections in which passes were given up, the last one first; and the fullest
    std::vector<Index> deciding_;
};

}  // namespace memplan
