#include "greedy/pass.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace memplan {

namespace {

constexpr Coord kGivenUp = -1;
// Memory is prefetched for this many blocks ahead.
constexpr std::size_t kAhead = 4;
// With fewer blocks a pass ends before probing could help.
constexpr Index kProbed = 2048;
// A probe covers at most this part of the order,
constexpr std::size_t kSmallPart = 8;
// and a pass makes at most this many.
constexpr std::size_t kSpots = 4;
// Number of blocks between checks whether to hurry: some milliseconds, where each meets thousands.
constexpr std::size_t kAskEvery = 256;
// A block whose rects can meet more placed ones than this, in pairs, is placed as if it were solid: two groups of 10^5 rects have 10^10 pairs.
constexpr std::size_t kMostPairs = std::size_t{1} << 22;

Index fullest_section(const Blocks& blocks) {
    std::vector<Coord> change(static_cast<std::size_t>(blocks.input.sections) + 1, 0);
    for (const Rect& rect : blocks.rects) {
        change[rect.start] += rect.high - rect.low;
        change[rect.end] -= rect.high - rect.low;
    }
    Coord load = 0, most = 0;
    Index fullest = 0;
    for (std::size_t section = 0; section < change.size(); ++section) {
        load += change[section];
        if (load > most) most = load, fullest = static_cast<Index>(section);
    }
    return fullest;
}

// One rect of no part that covers them all.
Rect hull(std::span<const Rect> rects) {
    Rect whole = rects.front();
    for (const Rect& rect : rects) {
        whole.low = std::min(whole.low, rect.low), whole.high = std::max(whole.high, rect.high);
        whole.start = std::min(whole.start, rect.start), whole.end = std::max(whole.end, rect.end);
    }
    whole.part = kNone;
    return whole;
}

}  // namespace

Fit fit_named(std::string_view name) {
    if (name == "lowest") return Fit::kLowest;
    if (name == "best") return Fit::kBest;
    throw BadInput("there is no fit " + std::string(name));
}

Layout::Layout(const Blocks& blocks)
    : timeline(blocks),
      short_lived(blocks, [&](const Rect& rect) { return !blocks.is_told_apart(rect) && (timeline.is_empty() || !timeline.is_long(rect)); }),
      told_apart(blocks, [&](const Rect& rect) { return blocks.is_told_apart(rect); }) {
    for (const Interval& wall : blocks.walls) walls_end = std::max(walls_end, wall.high);
    rows.resize(blocks.count);
    for (Index b = 0; b < blocks.count; ++b) {
        const SearchInput& input = blocks.input;
        const auto rects = static_cast<Index>(blocks.rects_of(b).size());
        rows[b] = {input.lowest[b], input.highest[b], input.modulus[b], input.residue[b], blocks.high[b], blocks.component[b], blocks.first_rect[b], rects};
    }
    if (blocks.count < kProbed || !blocks.foes.empty()) return;
    lives.resize(blocks.count);
    for (Index block = 0; block < blocks.count; ++block) {
        for (const Rect& rect : blocks.rects_of(block)) {
            lives[block] = {std::min(lives[block].start, rect.start), std::max(lives[block].end, rect.end)};
        }
    }
    fullest = fullest_section(blocks);
}

Pass::Pass(const Blocks& blocks, const Layout& layout)
    : blocks_(&blocks), layout_(&layout), timeline_(layout.timeline), short_lived_(layout.short_lived, false), told_apart_(layout.told_apart, true), offsets_(blocks.count, 0), placed_(blocks.foes.empty() ? 0 : blocks.count, 0), spots_{layout.fullest} {
    make_room(2 * short_lived_.room() + told_apart_.room() + timeline_.room());  // for a plain block
}

PassResult Pass::run(std::span<const Index> order, Fit fit, const PassLimits& limits) {
    PassResult result{true, std::vector<Coord>(blocks_->components, 0)};
    alive_ = 0, peak_ = 0;
    bool is_bounded = false;
    for (Index c = 0; c < blocks_->components; ++c) {
        if (limits.highest_end[c] < 0) result.tops[c] = kGivenUp;
        else ++alive_;
        is_bounded |= limits.highest_end[c] >= 0 && limits.highest_end[c] < kAddressLimit;
    }
    // Most passes are given up, often where earlier ones were. So these sections are tried first, with only the blocks that matter there.
    const std::size_t spots = layout_->lives.empty() || !is_bounded || limits.finish ? 0 : spots_.size();
    for (std::size_t spot = 0; spot < spots && alive_ > 0; ++spot) {
        const std::span<const Index> some = deciding(order, spots_[spot]);
        clear();
        result.ended = place_all(some, fit, limits, result);
        if (!result.ended) return result;
    }
    if (alive_ == 0) return result;
    clear();
    result.ended = place_all(order, fit, limits, result);
    return result;
}

void Pass::clear() {
    timeline_.clear();
    short_lived_.clear();
    told_apart_.clear();
    std::fill(placed_.begin(), placed_.end(), std::uint8_t{0});
}

std::span<const Index> Pass::deciding(std::span<const Index> order, Index section) {
    // From the last block to the first: a block placed before one that matters, and live together with it, matters as well. All of them are live side
    // by side, from `start` to `end` without a gap.
    const std::size_t most = order.size() / kSmallPart;
    deciding_.clear();
    Index start = section, end = section + 1;
    for (std::size_t step = order.size(); step > 0; --step) {
        if (step > 4 * kAhead) prefetch(layout_->lives.data() + order[step - 1 - 4 * kAhead]);
        const Layout::Life life = layout_->lives[order[step - 1]];
        if (life.start >= end || life.end <= start) continue;
        if (deciding_.size() == most) return {};
        deciding_.push_back(order[step - 1]);
        start = std::min(start, life.start), end = std::max(end, life.end);
    }
    std::reverse(deciding_.begin(), deciding_.end());
    return deciding_;
}

bool Pass::place_all(std::span<const Index> order, Fit fit, const PassLimits& limits, PassResult& result) {
    bool hurries = false;
    for (std::size_t step = 0; step < order.size() && alive_ > 0; ++step) {
        const Index block = order[step];
        if (step + 3 * kAhead < order.size()) fetch_row(order[step + 3 * kAhead]);
        if (step + 2 * kAhead < order.size()) prefetch(blocks_->rects.data() + layout_->rows[order[step + 2 * kAhead]].first_rect);
        if (step + kAhead < order.size()) fetch_neighbours(order[step + kAhead]);
        const Index component = layout_->rows[block].component;
        Coord& top = result.tops[component];
        if (top == kGivenUp) continue;
        const bool stop = limits.stop->load(std::memory_order_relaxed);
        if ((stop && !limits.finish) || limits.last_pass->load(std::memory_order_relaxed) < limits.number) {
            return false;
        }
        std::optional<Coord> base;
        if (limits.hurries && !hurries && step % kAskEvery == kAskEvery - 1) hurries = limits.hurries();
        if (stop || hurries) base = stacked(block, peak_);
        const bool may_look = !limits.left_out || !(stop || hurries);
        if (!base && may_look) base = base_of(block, fit, limits.highest_end[component]);
        if (!base && limits.left_out) {
            limits.left_out->push_back(block);
            continue;
        }
        if (!base) {
            top = kGivenUp;
            --alive_;
            given_up_at(block);
            continue;
        }
        put(block, *base);
        top = std::max(top, *base + layout_->rows[block].high);
        peak_ = std::max(peak_, top);
    }
    return true;
}

void Pass::given_up_at(Index block) {
    if (layout_->lives.empty() || layout_->lives[block].start == kNone) return;
    const Index section = layout_->lives[block].start;
    auto known = std::find(spots_.begin(), spots_.end(), section);
    if (known == spots_.end()) {
        if (spots_.size() < kSpots) spots_.emplace_back();
        known = spots_.end() - 1;
        *known = section;
    }
    std::rotate(spots_.begin(), known, known + 1);
}

std::optional<Coord> Pass::base_of(Index block, Fit fit, Coord highest_end) {
    const Layout::Row& row = layout_->rows[block];
    const Coord lowest = row.lowest, highest = row.highest, give_up = highest_end - row.high;
    modulus_ = row.modulus, residue_ = row.residue;
    if (std::min(highest, give_up) < lowest) return std::nullopt;
    collect(block);
    if (fit == Fit::kLowest) return open_from(lowest, std::min(highest, give_up));
    return tightest_from(lowest, highest, give_up);
}

void Pass::fetch_row(Index block) const {
    prefetch(layout_->rows.data() + block);
    prefetch(offsets_.data() + block);
}

void Pass::fetch_neighbours(Index block) const {
    const std::span<const Rect> rects = rects_of(block);
    if (!rects.empty()) short_lived_.fetch(rects.front().start, rects.front().end);
}

void Pass::collect(Index block) {
    runs_.clear();
    filled_ = 0;
    std::span<const Rect> rects = rects_of(block);
    Rect whole;
    if (!is_plain(block)) {
        std::size_t pairs = most_pairs(rects);
        if (rects.size() > 1 && pairs > kMostPairs) {
            whole = hull(rects), rects = {&whole, 1};
            pairs = most_pairs(rects);
        }
        make_room(pairs + foes_of(block));  // the array must not grow while pointers into it exist
    }
    for (const Rect& own : rects) {
        const auto visit = [&](std::span<const Interval> taken) {
            if (!taken.empty()) runs_.push_back({taken.data(), taken.data() + taken.size(), own.low, own.high});
        };
        const auto look = [&](std::span<const Entry> entries) {
            const std::size_t since = filled_;
            for (const Entry& entry : entries) copy_if((entry.start < own.end) & (entry.end > own.start), entry.addresses);
            add_copied(since, own.low, own.high);
        };
        timeline_.near(own.start, own.end, visit, look, [&](Index start, Index end) { collect_short_lived(own, start, end); });
        if (!blocks_->friends.empty()) collect_told_apart(own);
    }
    for (const Index part : blocks_->solid_parts.of(block)) {
        const Coord low = blocks_->input.part_low[part], high = blocks_->input.part_high[part];
        if (!blocks_->walls.empty()) runs_.push_back({blocks_->walls.data(), blocks_->walls.data() + blocks_->walls.size(), low, high});
        collect_foes(part);
    }
}

void Pass::collect_short_lived(const Rect& own, Index start, Index end) {
    short_lived_.near(start, end, [&](const auto& rects) {
        const std::size_t since = filled_;
        for (const auto& rect : rects) copy_if((rect.start < own.end) & (rect.end > own.start), {rect.low, rect.high});
        add_copied(since, own.low, own.high);
    });
}

void Pass::collect_told_apart(const Rect& own) {
    const std::span<const Index> friends = own.part == kNone ? std::span<const Index>{} : blocks_->friends.of(own.part);
    told_apart_.near_parts(own.start, own.end, [&](std::span<const Rect> rects) {
        const std::size_t since = filled_;
        for (const Rect& rect : rects) {
            const bool together = rect.start < own.end && rect.end > own.start;
            copy_if(together && !std::binary_search(friends.begin(), friends.end(), rect.part), {rect.low, rect.high});
        }
        add_copied(since, own.low, own.high);
    });
}

void Pass::collect_foes(Index part) {
    const std::size_t since = filled_;
    for (const Index other : blocks_->foes.of(part)) {
        const auto owner = static_cast<std::size_t>(blocks_->input.part_block[other]);
        const Coord base = offsets_[owner];
        copy_if(placed_[owner] != 0, {base + blocks_->input.part_low[other], base + blocks_->input.part_high[other]});
    }
    std::sort(copied_.get() + since, copied_.get() + filled_, [](const Interval& a, const Interval& b) { return a.low < b.low; });
    add_copied(since, blocks_->input.part_low[part], blocks_->input.part_high[part]);
}

void Pass::add_copied(std::size_t since, Coord low, Coord high) {
    if (filled_ > since) runs_.push_back({copied_.get() + since, copied_.get() + filled_, low, high});
}

void Pass::make_room(std::size_t most) {
    if (most <= room_) return;
    copied_.reset(static_cast<Interval*>(::operator new(most * sizeof(Interval))));  // pages are only allocated when written
    room_ = most;
}

std::size_t Pass::most_pairs(std::span<const Rect> rects) const {
    std::size_t most = 0;
    for (const Rect& own : rects) {
        timeline_.near(own.start, own.end, [](auto) {}, [&](auto entries) { most += entries.size(); },
                       [&](Index start, Index end) { short_lived_.near(start, end, [&](auto placed) { most += placed.size(); }); });
        if (!blocks_->friends.empty()) told_apart_.near(own.start, own.end, [&](auto placed) { most += placed.size(); });
    }
    return most;
}

std::size_t Pass::foes_of(Index block) const {
    std::size_t foes = 0;
    for (const Index part : blocks_->solid_parts.of(block)) foes += blocks_->foes.of(part).size();
    return foes;
}

std::optional<Coord> Pass::open_from(Coord base, Coord highest) {
    // Bases only go up, so addresses below a run's pointer never matter again. It ends when no run has anything in the way.
    for (Coord before = base - 1; before != base;) {
        before = base;
        for (std::size_t i = 0; i < runs_.size();) {
            Run& run = runs_[i];
            const Interval* at = run.at;
            if (modulus_ == 1) {
                while (at != run.end && at->low < base + run.high) base = std::max(base, (at++)->high - run.low);  // without a branch
            } else {
                for (; at != run.end && at->low < base + run.high; ++at) {
                    if (at->high > base + run.low) base = aligned(at->high - run.low);
                }
            }
            if (base > highest) return std::nullopt;
            run.at = at;
            if (at == run.end) {
                run = runs_.back();
                runs_.pop_back();
            } else {
                ++i;
            }
        }
    }
    return base;
}

std::optional<std::pair<Coord, Coord>> Pass::next_closed() {
    std::optional<std::pair<Coord, Coord>> next;
    for (const Run& run : runs_) {
        if (run.at == run.end) continue;
        const Coord low = run.at->low - run.high;
        if (!next || low < next->first) next = {low, run.at->high - run.low};
    }
    return next;
}

std::optional<Coord> Pass::tightest_from(Coord base, Coord highest, Coord give_up) {
    std::optional<Coord> best;
    Coord least_room = 0;
    while (true) {
        // Until a gap is found, one that ends too high counts as none.
        const std::optional<Coord> open = open_from(base, best ? highest : std::min(highest, give_up));
        if (!open) break;
        const auto closed = next_closed();
        if (!closed) {
            if (!best) best = open;
            break;
        }
        const Coord room = closed->first - *open;
        if (!best || room < least_room) best = open, least_room = room;
        if (room == 0) break;
        base = aligned(closed->second);
        if (base > highest) break;
    }
    return best && *best <= give_up ? best : std::nullopt;
}

std::optional<Coord> Pass::stacked(Index block, Coord peak) const {
    const SearchInput& input = blocks_->input;
    const Coord floor = std::max({input.lowest[block], peak, layout_->walls_end});
    const Coord modulus = input.modulus[block], over = (floor - input.residue[block]) % modulus;
    const Coord base = over == 0 ? floor : floor + (over > 0 ? modulus - over : -over);
    return base <= input.highest[block] ? std::optional(base) : std::nullopt;
}

void Pass::put(Index block, Coord base) {
    offsets_[block] = base;
    if (!placed_.empty()) placed_[block] = 1;
    for (Rect rect : rects_of(block)) {
        rect.low += base, rect.high += base;
        if (blocks_->is_told_apart(rect)) {
            told_apart_.place(rect);
        } else if (layout_->timeline.is_empty()) {
            short_lived_.place(rect);
        } else if (layout_->timeline.is_long(rect)) {
            timeline_.place(rect);
        } else {
            short_lived_.place(rect);
            timeline_.note(rect);
        }
    }
}

Coord Pass::aligned(Coord base) const {
    if (modulus_ == 1) return base;
    const Coord over = (base - residue_) % modulus_;
    return over == 0 ? base : base + (over > 0 ? modulus_ - over : -over);
}

}  // namespace memplan
