#include "greedy/pass.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace memplan {

namespace {

constexpr Coord kGivenUp = -1;
// By how many blocks memory is asked for before it is needed.
constexpr std::size_t kAhead = 4;

}  // namespace

Fit fit_named(std::string_view name) {
    if (name == "lowest") return Fit::kLowest;
    if (name == "best") return Fit::kBest;
    throw BadInput("there is no fit " + std::string(name));
}

Layout::Layout(const Blocks& blocks)
    : timeline(blocks),
      short_lived(blocks, [&](const Rect& rect) { return !blocks.is_told_apart(rect) && (timeline.is_empty() || !timeline.is_long(rect)); }),
      told_apart(blocks, [&](const Rect& rect) { return blocks.is_told_apart(rect); }) {}

Pass::Pass(const Blocks& blocks, const Layout& layout)
    : blocks_(&blocks), layout_(&layout), timeline_(layout.timeline), short_lived_(layout.short_lived), told_apart_(layout.told_apart), offsets_(blocks.count, 0), placed_(blocks.foes.empty() ? 0 : blocks.count, 0) {}

PassResult Pass::run(std::span<const Index> order, Fit fit, const PassLimits& limits) {
    timeline_.clear();
    short_lived_.clear();
    told_apart_.clear();
    std::fill(placed_.begin(), placed_.end(), std::uint8_t{0});
    PassResult result{true, std::vector<Coord>(blocks_->components, 0)};
    std::vector<Coord> highest_end = limits.highest_end;
    Index alive = 0;
    for (Index c = 0; c < blocks_->components; ++c) {
        if (highest_end[c] < 0) result.tops[c] = kGivenUp;
        else ++alive;
    }
    Coord peak = 0;
    for (std::size_t step = 0; step < order.size() && alive > 0; ++step) {
        const Index block = order[step];
        if (step + 3 * kAhead < order.size()) fetch_columns(order[step + 3 * kAhead]);
        if (step + 2 * kAhead < order.size()) prefetch(blocks_->rects.data() + blocks_->first_rect[order[step + 2 * kAhead]]);
        if (step + kAhead < order.size()) fetch_neighbours(order[step + kAhead]);
        const Index component = blocks_->component[block];
        Coord& top = result.tops[component];
        if (top == kGivenUp) continue;
        const bool stop = limits.stop->load(std::memory_order_relaxed);
        if ((stop && !limits.finish) || limits.last_pass->load(std::memory_order_relaxed) < limits.number) {
            result.ended = false;
            return result;
        }
        std::optional<Coord> base;
        if (stop) base = stacked(block, peak);
        if (!base) base = base_of(block, fit, highest_end[component]);
        if (!base) {
            top = kGivenUp;
            --alive;
            continue;
        }
        put(block, *base);
        top = std::max(top, *base + blocks_->high[block]);
        peak = std::max(peak, top);
    }
    return result;
}

std::optional<Coord> Pass::base_of(Index block, Fit fit, Coord highest_end) {
    const SearchInput& input = blocks_->input;
    const Coord lowest = input.lowest[block], highest = input.highest[block], give_up = highest_end - blocks_->high[block];
    modulus_ = input.modulus[block], residue_ = input.residue[block];
    if (std::min(highest, give_up) < lowest) return std::nullopt;
    collect(block);
    if (fit == Fit::kLowest) return open_from(lowest, std::min(highest, give_up));
    return tightest_from(lowest, highest, give_up);
}

void Pass::fetch_columns(Index block) const {
    const SearchInput& input = blocks_->input;
    for (const auto* column : {&input.lowest, &input.highest, &input.modulus, &input.residue}) prefetch(column->data() + block);
    prefetch(blocks_->high.data() + block);
    prefetch(blocks_->component.data() + block);
    prefetch(blocks_->first_rect.data() + block);
    prefetch(offsets_.data() + block);
}

void Pass::fetch_neighbours(Index block) const {
    const std::span<const Rect> rects = blocks_->rects_of(block);
    if (!rects.empty()) short_lived_.fetch(rects.front().start, rects.front().end);
}

void Pass::collect(Index block) {
    runs_.clear();
    filled_ = 0;
    // It does not grow on the way, so that what points into it stays valid.
    if (const std::size_t most = most_copies(block); copied_.size() < most) copied_.resize(2 * most);
    for (const Rect& own : blocks_->rects_of(block)) {
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
    short_lived_.near(start, end, [&](std::span<const Rect> rects) {
        const std::size_t since = filled_;
        for (const Rect& rect : rects) copy_if((rect.start < own.end) & (rect.end > own.start), {rect.low, rect.high});
        add_copied(since, own.low, own.high);
    });
}

void Pass::collect_told_apart(const Rect& own) {
    const std::span<const Index> friends = blocks_->friends.of(own.part);
    told_apart_.near(own.start, own.end, [&](std::span<const Rect> rects) {
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
    std::sort(copied_.data() + since, copied_.data() + filled_, [](const Interval& a, const Interval& b) { return a.low < b.low; });
    add_copied(since, blocks_->input.part_low[part], blocks_->input.part_high[part]);
}

void Pass::add_copied(std::size_t since, Coord low, Coord high) {
    if (filled_ > since) runs_.push_back({copied_.data() + since, copied_.data() + filled_, low, high});
}

std::size_t Pass::most_copies(Index block) const {
    std::size_t most = 0;
    for (const Rect& own : blocks_->rects_of(block)) {
        timeline_.near(own.start, own.end, [](auto) {}, [&](auto entries) { most += entries.size(); },
                       [&](Index start, Index end) { short_lived_.near(start, end, [&](auto rects) { most += rects.size(); }); });
        if (!blocks_->friends.empty()) told_apart_.near(own.start, own.end, [&](auto rects) { most += rects.size(); });
    }
    for (const Index part : blocks_->solid_parts.of(block)) most += blocks_->foes.of(part).size();
    return most;
}

std::optional<Coord> Pass::open_from(Coord base, Coord highest) {
    // Bases only go up, so whatever lies below one run's pointer never matters again; done when no run has anything in the way.
    bool raised = true;
    while (raised) {
        raised = false;
        for (std::size_t i = 0; i < runs_.size();) {
            Run& run = runs_[i];
            while (run.at != run.end && run.at->low < base + run.high) {
                if (run.at->high > base + run.low) {
                    base = aligned(run.at->high - run.low);
                    if (base > highest) return std::nullopt;
                    raised = true;
                }
                ++run.at;
            }
            if (run.at == run.end) {
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
        // Until there is a gap, one that ends too high is as good as none.
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
    Coord floor = std::max(input.lowest[block], peak);
    if (!blocks_->walls.empty()) {
        for (const Interval& wall : blocks_->walls) floor = std::max(floor, wall.high);
    }
    const Coord modulus = input.modulus[block], over = (floor - input.residue[block]) % modulus;
    const Coord base = over == 0 ? floor : floor + (over > 0 ? modulus - over : -over);
    return base <= input.highest[block] ? std::optional(base) : std::nullopt;
}

void Pass::put(Index block, Coord base) {
    offsets_[block] = base;
    if (!placed_.empty()) placed_[block] = 1;
    for (Rect rect : blocks_->rects_of(block)) {
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
