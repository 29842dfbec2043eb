// One pass: places the blocks in a given order, each at the base that a fit chooses among the free ones.
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

// By the names of solvers/fitting/orders.py. Throws BadInput if there is no such fit.
Fit fit_named(std::string_view name);

// Conditions that end a pass or make it hurry.
struct PassLimits {
    std::vector<Coord> highest_end;          // by component: a block that would end above it ends the component; -1: not even begun
    const std::atomic<bool>* stop = nullptr;  // ends the pass,
    bool finish = false;                      // unless it must be finished: then the remaining blocks are stacked on top
    std::function<bool()> hurries;            // called regularly; once true, the remaining blocks are stacked on top
    std::vector<Index>* left_out = nullptr;   // if given, a block that fits nowhere is noted there, and its component goes on without it
    const std::atomic<Index>* last_pass = nullptr;  // passes after this one are of no use
    Index number = 0;
};

struct PassResult {
    bool ended = true;         // false: stopped before the end
    std::vector<Coord> tops;   // by component: the end of its highest block; -1 if it was given up
};

// Data shared by all passes over the same blocks.
struct Layout {
    explicit Layout(const Blocks& blocks);

    TimelineLayout timeline;       // long-lived rects,
    CalendarLayout short_lived;    // short-lived rects,
    CalendarLayout told_apart;     // and rects of either kind whose part has friends

    // The data for placing a block in one cache line, since blocks come in no memory order.
    struct alignas(64) Row {
        Coord lowest = 0, highest = 0, modulus = 1, residue = 0, high = 0;
        Index component = 0, first_rect = 0, rects = 0;
    };
    Large<Row> rows;
    Coord walls_end = 0;           // end of the highest wall
    // The first and last section of a block's life.
    struct Life {
        Index start = kNone, end = 0;
    };
    Large<Life> lives;       // by block; empty if nothing is to be probed
    Index fullest = 0;             // the section with the largest live sum
};

class Pass {
public:
    Pass(const Blocks& blocks, const Layout& layout);

    PassResult run(std::span<const Index> order, Fit fit, const PassLimits& limits);
    // Offsets from the last run. Of a component that was given up, only some are valid.
    std::span<const Coord> offsets() const { return offsets_; }

private:
    // Places the blocks of the order; false if stopped before the end.
    bool place_all(std::span<const Index> order, Fit fit, const PassLimits& limits, PassResult& result);
    // The part of the order that decides the placement in a section; empty if that is a large part of all.
    std::span<const Index> deciding(std::span<const Index> order, Index section);
    void given_up_at(Index block);
    void clear();
    // Occupied addresses, sorted, that one part of the block to be placed can meet.
    struct Run {
        const Interval* at;
        const Interval* end;
        Coord low, high;  // of the part
    };

    // Prefetch the data for placing the block, in steps, since each address is read from the step before.
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
    // Without a branch: whether two blocks live together is hard to predict.
    void copy_if(bool wanted, Interval addresses) {
        copied_[filled_] = addresses;
        filled_ += wanted;
    }
    // Makes a run of the intervals copied since `since`.
    void add_copied(std::size_t since, Coord low, Coord high);
    // A block of a single rect: it reads the long-lived rects once and the short-lived ones at most twice, once at either end of its life.
    bool is_plain(Index block) const { return layout_->rows[block].rects <= 1 && blocks_->solid_parts.empty(); }
    void make_room(std::size_t most);
    // The most pairs of one of these rects and a placed one near it in time.
    std::size_t most_pairs(std::span<const Rect> rects) const;
    std::size_t foes_of(Index block) const;
    // The least open base from `base` on; none if it is above `highest`.
    std::optional<Coord> open_from(Coord base, Coord highest);
    std::optional<Coord> tightest_from(Coord base, Coord highest, Coord give_up);
    // The next interval above an open base, as the bases that it closes.
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
    std::vector<std::uint8_t> placed_;  // only with conflicts
    std::vector<Run> runs_;
    struct Deleted {
        void operator()(Interval* intervals) const { ::operator delete(intervals); }
    };
    std::unique_ptr<Interval[], Deleted> copied_;
    std::size_t room_ = 0, filled_ = 0;
    Coord modulus_ = 1, residue_ = 0;
    Index alive_ = 0;  // components that are not given up
    Coord peak_ = 0;
    std::vector<Index> spots_;     // sections in which passes were given up, the latest first, and the fullest
    std::vector<Index> deciding_;
};

}  // namespace memplan
