#include "improve/ejection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "shared/around.hpp"
#include "shared/blocks.hpp"
#include "shared/places.hpp"
#include "shared/random.hpp"

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/improve.py.
constexpr int kPriceBits = 20;
constexpr Coord kHighestGrudge = Coord{1} << 12;
constexpr int kHeights = 7;                     // the bound, half of the way to it, a quarter and so on; one step back for each success,
constexpr int kMildHeight = 3;                  // after the bound comes an eighth
constexpr std::int64_t kPatience = 250'000;      // looks without fewer blocks out than ever; doubled when all heights have failed,
constexpr int kHopeless = 3;                    // which ends the improvement after this many times in a row
constexpr std::int64_t kLooksAMove = 50;

__extension__ using Wide = unsigned __int128;

// The initial price of throwing a block out: higher for blocks that are harder to place again.
std::vector<Coord> prices(const Blocks& blocks) {
    std::vector<Wide> area(blocks.count, 0);
    Wide most = 0;
    for (Index block = 0; block < blocks.count; ++block) {
        Wide width = 0;
        for (const Rect& rect : blocks.rects_of(block)) width += rect.end - rect.start;
        area[block] = width * static_cast<Wide>(blocks.high[block]);
        most = std::max(most, area[block]);
    }
    int shift = 0;
    while ((most >> shift) >> (2 * kPriceBits) != 0) ++shift;
    std::vector<Coord> price(blocks.count);
    for (Index block = 0; block < blocks.count; ++block) {
        // Exact: the root of a number below 2^40 is rounded to 53 bits.
        price[block] = 1 + static_cast<Coord>(std::sqrt(static_cast<double>(static_cast<std::uint64_t>(area[block] >> shift))));
    }
    return price;
}

class Ejection {
public:
    Ejection(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report)
        : blocks_(input), around_(blocks_), options_(options), report_(report), random_(options.seed), price_(prices(blocks_)),
          known_(blocks_.count) {
        result_.offsets.assign(options.start.begin(), options.start.end());
        for (Index block = 0; block < blocks_.count; ++block) known_[block] = {result_.offsets[block], price_[block], true, blocks_.is_fixed(block)};
        result_.peak = peak();
        // Heights below the highest fixed block are not worth a try.
        floor_ = options.enough;
        for (Index block = 0; block < blocks_.count; ++block) {
            if (known_[block].stays) floor_ = std::max(floor_, known_[block].base + blocks_.high[block]);
        }
    }

    Improvement run() {
        std::int64_t patience = kPatience;
        int step = 0, in_vain = 0;
        while (result_.peak > floor_ && in_vain < kHopeless && !is_over()) {
            const Coord gap = result_.peak - floor_;
            if (lower_to(result_.peak - std::max<Coord>(1, gap >> step), patience)) {
                step = std::max(0, step - 1);
                in_vain = 0;
                continue;
            }
            step = step == 0 ? kMildHeight : step + 1;
            if (step >= kHeights || (gap >> step) == 0) {
                step = 0;
                ++in_vain;
                patience *= 2;
            }
        }
        return std::move(result_);
    }

private:
    bool is_over() {
        if (result_.work >= options_.work) return true;
        if (!stopped_ && breath_.is_due(result_.work)) {
            stopped_ = report_(news_ ? &result_.offsets : nullptr);
            news_ = false;
        }
        return stopped_;
    }

    Coord peak() const {
        Coord peak = 0;
        for (Index block = 0; block < blocks_.count; ++block) peak = std::max(peak, known_[block].base + blocks_.high[block]);
        return peak;
    }

    // Starts from the best placement so far; false if its patience runs out.
    bool lower_to(Coord height, std::int64_t patience) {
        result_.work += blocks_.count;
        out_.clear();
        for (Index block = 0; block < blocks_.count; ++block) {
            known_[block].base = result_.offsets[block], known_[block].is_placed = true;
            if (known_[block].base + blocks_.high[block] > height) throw_out(block);
        }
        std::size_t fewest = out_.size();
        std::int64_t since = result_.work;
        while (!out_.empty()) {
            if (is_over() || result_.work - since > patience) return false;
            if (!put(out_.take(), height)) return false;
            if (out_.size() < fewest) fewest = out_.size(), since = result_.work;
        }
        for (Index block = 0; block < blocks_.count; ++block) result_.offsets[block] = known_[block].base;
        result_.peak = peak();
        news_ = true;
        return true;
    }

    void throw_out(Index block) {
        known_[block].is_placed = false;
        out_.push(price_[block], block);
    }

    bool put(Index block, Coord height) {
        const SearchInput& input = blocks_.input;
        Span span{input.lowest[block], std::min(input.highest[block], height - blocks_.high[block]), input.modulus[block], input.residue[block]};
        collect(block);
        result_.work += kLooksAMove + static_cast<std::int64_t>(closed_.size());
        // Aligns the highest base; with none at or above the lowest, it stays.
        const Coord over = span.highest < span.lowest ? 0 : (span.highest - span.lowest) % span.modulus;
        span.highest -= over;
        const auto place = places_.best(closed_, span, random_);
        if (!place) return false;
        Known& known = known_[block];
        known.base = place->base, known.is_placed = true;
        if (place->price == 0) return true;
        known.price = std::min(known.price + price_[block], price_[block] * kHighestGrudge);
        for (const Closed& closed : closed_) {
            const bool in_the_way = closed.low < place->base && place->base < closed.high;
            if (in_the_way && known_[closed.block].is_placed) throw_out(closed.block);
        }
        return true;
    }

    // Collects the intervals of bases that placed blocks close to this one.
    void collect(Index block) {
        closed_.clear();
        around_.each(block, [&](Index other, Coord low, Coord high) {
            const Known& known = known_[other];
            if (known.is_placed) closed_.push_back({known.base + low, known.base + high, known.price, other, known.stays});
        });
        for (const Interval& wall : blocks_.walls) {
            for (const Index part : blocks_.solid_parts.of(block)) {
                closed_.push_back({wall.low - blocks_.input.part_high[part], wall.high - blocks_.input.part_low[part], 0, kNone, true});
            }
        }
        around_.without_repeats(closed_);
    }

    const Blocks blocks_;
    const Around around_;
    const ImprovementOptions& options_;
    const ImprovementReport& report_;
    Random random_;
    const std::vector<Coord> price_;
    // What is read of each neighbour of a block, side by side.
    struct Known {
        Coord base = 0;
        Coord price = 0;  // of throwing it out: grows by the first price each time the block throws others out
        bool is_placed = true;
        bool stays = false;
    };
    std::vector<Known> known_;
    DearestFirst out_;
    std::vector<Closed> closed_;
    Places places_;
    Improvement result_;
    Coord floor_ = 0;
    bool stopped_ = false, news_ = false;
    Breath breath_;
};

}  // namespace

Improvement improve(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report) {
    return Ejection(input, options, report).run();
}

}  // namespace memplan
