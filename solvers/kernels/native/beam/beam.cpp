#include "beam/beam.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <unordered_set>

#include "beam/layouts.hpp"
#include "shared/random.hpp"

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/beam.py.
constexpr int kWidth = 20;        // number of kept layouts; doubled when all heights have failed,
constexpr int kWidest = 256;      // up to this
constexpr std::size_t kStretch = 15;  // where no layout had room, the number is doubled for this many steps before,
constexpr std::size_t kMostTimes = 8;  // to at most this multiple,
constexpr std::size_t kMostKept = 512;   // and never more layouts than this, which bounds the memory
constexpr int kPatience = 16;   // failed sweeps each way at the bound before other heights are tried
constexpr int kHeights = 7;       // the bound, an eighth of the way to it, and so on; one step back for each success
constexpr int kMildHeight = 3;
constexpr Coord kMismatch[] = {0, 5, 2, 8};  // in parts of kWhole: the cost of neighbours with different ends, for successive sweeps
constexpr Coord kWhole = 16;
constexpr Coord kSection = 1024;  // weight of a section, and the range of its random increase
constexpr std::uint64_t kNoise = 128;
constexpr std::int64_t kLooksACandidate = 5;
constexpr std::int64_t kLooksALayout = 100;
constexpr std::size_t kLayoutsABreath = 64;  // some tens of microseconds

using Index = std::uint32_t;
using Layout = BeamLayout;

// The blocks as a sweep meets them, from the first section to the last or from the last to the first, and what such sweeps have learnt.
struct Way {
    Way(const SearchInput& input, const std::vector<Coord>& size, std::uint64_t seed, bool is_back)
        : begin(size.size()), end(size.size()), order(size.size()), times(size.size(), 1), random(seed) {
        for (std::size_t rect = 0; rect < input.rects(); ++rect) {
            const Coord block = input.part_block[input.rect_part[rect]];
            const Coord first = input.rect_start[rect], last = input.rect_end[rect];
            begin[block] = is_back ? input.sections - last : first, end[block] = is_back ? input.sections - first : last;
        }
        std::iota(order.begin(), order.end(), Index{0});
        // Of blocks that begin together, the longest comes first, then the largest.
        std::sort(order.begin(), order.end(), [&](Index a, Index b) {
            return std::tuple(begin[a], -end[a], -size[a], a) < std::tuple(begin[b], -end[b], -size[b], b);
        });
        later = later_sizes(order, begin, end, size);
    }

    std::vector<Coord> begin, end;
    std::vector<Index> order;
    std::vector<std::vector<Coord>> later;
    std::vector<std::size_t> times;  // by place in the order: the multiple of the width that is kept
    Random random;
    std::size_t sweeps = 0;
};

class Beam {
public:
    Beam(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report)
        : input_(input), options_(options), report_(report), count_(static_cast<Index>(input.blocks())), size_(count_) {
        for (std::size_t part = 0; part < input.parts(); ++part) size_[input.part_block[part]] = input.part_high[part];
        ways_.reserve(2);
        ways_.emplace_back(input, size_, options.seed, false);
        way_ = &ways_.front();
        result_.offsets.assign(options.start.begin(), options.start.end());
        result_.peak = peak_of(result_.offsets);
    }

    Improvement run() {
        int step = 0, width = kWidth, failed = 0;
        bool has_turned = false;
        while (result_.peak > options_.enough && width <= kWidest && !is_over()) {
            mismatch_ = kMismatch[way_->sweeps++ % std::size(kMismatch)];
            const Coord gap = result_.peak - options_.enough;
            if (sweep(result_.peak - std::max<Coord>(1, gap >> step), static_cast<std::size_t>(width))) {
                step = std::max(0, step - 1);
                has_turned = false;
                continue;
            }
            turn_round();
            has_turned = !has_turned;
            if (has_turned) continue;  // the same height the other way
            if (step == 0) {
                if (++failed % kPatience != 0) continue;
                for (Way& way : ways_) way.times.assign(count_, 1);
            }
            step = step == 0 ? kMildHeight : step + 1;
            if (step >= kHeights || (gap >> step) == 0) step = 0, width *= 2;
        }
        return std::move(result_);
    }

private:
    // After a sweep that failed the next one goes the other way: which way is better shows only in what succeeds.
    void turn_round() {
        if (ways_.size() == 1) ways_.emplace_back(input_, size_, options_.seed, true);
        way_ = way_ == &ways_.front() ? &ways_.back() : &ways_.front();
    }

    // A little noise makes other sweeps and other seeds try other layouts.
    void draw_lengths() {
        until_.assign(static_cast<std::size_t>(input_.sections) + 1, 0);
        for (std::size_t section = 0; section + 1 < until_.size(); ++section) {
            until_[section + 1] = until_[section] + kSection + static_cast<Coord>(way_->random.next() % kNoise);
        }
    }

    // Looks for a layout in which every block ends at or below the height; false if none is found.
    bool sweep(Coord height, std::size_t width) {
        height_ = height;
        draw_lengths();
        steps_.clear();
        kept_.assign(1, Layout{});
        now_ = -1;
        for (std::size_t turn = 0; turn < way_->order.size(); ++turn) {
            const Index block = way_->order[turn];
            if (is_over()) return false;
            if (way_->begin[block] != now_) move_on_to(way_->begin[block]);
            candidates_.clear();
            for (std::size_t layout = 0; layout < kept_.size(); ++layout) {
                find_places(layout, block);
                if (layout % kLayoutsABreath == kLayoutsABreath - 1 && is_stopped()) return false;
            }
            if (candidates_.empty()) {
                learn(turn);
                return false;
            }
            keep_the_best(block, std::min(width * way_->times[turn], kMostKept));
        }
        std::int64_t step = kept_.front().step;
        for (Index i = count_; i-- > 0; step = steps_[step].before) result_.offsets[way_->order[i]] = steps_[step].base;
        result_.peak = peak_of(result_.offsets);
        news_ = true;
        return true;
    }

    void move_on_to(Coord now) {
        now_ = now;
        names_.clear();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            Layout& layout = kept_[i];
            std::size_t live = 0;
            result_.work += 2 * static_cast<std::int64_t>(layout.live.size());
            for (std::size_t k = 0; k < layout.live.size(); ++k) {
                if (way_->end[layout.live[k]] > now) {
                    layout.live[live] = layout.live[k], layout.base[live] = layout.base[k], ++live;
                } else {
                    layout.name -= name_of_place(layout.live[k], layout.base[k]);
                }
            }
            layout.live.resize(live), layout.base.resize(live);
            if (!names_.insert(layout.name).second) continue;
            layout.worth = worth_of(layout);
            if (kept != i) std::swap(kept_[kept], layout);
            ++kept;
        }
        kept_.resize(kept);
    }

    Coord end_of(const Layout& layout, std::size_t place) const { return place < layout.live.size() ? way_->end[layout.live[place]] : input_.sections; }
    Coord floor_of(const Layout& layout, std::size_t gap) const { return gap == 0 ? 0 : layout.base[gap - 1] + size_[layout.live[gap - 1]]; }
    Coord ceiling(const Layout& layout, std::size_t gap) const { return gap < layout.live.size() ? layout.base[gap] : height_; }

    // The worth of a contact between two blocks, or a block and the floor or ceiling, by when both end: there is no gap for the time they share. In
    // some sweeps the time by which one outlives the other is deducted.
    Coord contact(Coord end, Coord other) const {
        const Coord first = until_[std::min(end, other)], last = until_[std::max(end, other)];
        return kWhole * (first - until_[now_]) - mismatch_ * (last - first);
    }

    Coord worth_of(const Layout& layout) const {
        Coord worth = 0, floor = 0, below = input_.sections;
        if (layout.live.empty()) return 0;
        for (std::size_t gap = 0; gap <= layout.live.size(); ++gap) {
            if (ceiling(layout, gap) == floor) worth += contact(below, end_of(layout, gap));
            if (gap < layout.live.size()) floor = layout.base[gap] + size_[layout.live[gap]], below = way_->end[layout.live[gap]];
        }
        return worth;
    }

    Coord up(Index block, Coord base) const {
        const Coord rest = (base - input_.residue[block]) % input_.modulus[block];
        return rest == 0 ? base : base - rest + (rest > 0 ? input_.modulus[block] : 0);
    }

    Coord down(Index block, Coord base) const {
        const Coord rest = (base - input_.residue[block]) % input_.modulus[block];
        return base - rest - (rest < 0 ? input_.modulus[block] : 0);
    }

    // The places in every gap: at its bottom, at its top, and where exactly the room of a later block is left.
    void find_places(std::size_t index, Index block) {
        const Layout& layout = kept_[index];
        Coord floor = 0, below = input_.sections;
        result_.work += static_cast<std::int64_t>(layout.live.size()) + 1;
        for (std::size_t gap = 0; gap <= layout.live.size(); ++gap) {
            const Coord top = ceiling(layout, gap);
            if (top - floor >= size_[block]) {
                find_bases(layout, gap, block, std::max(floor, input_.lowest[block]), std::min(top - size_[block], input_.highest[block]));
                for (const Coord base : bases_) {
                    Coord worth = layout.worth;
                    if (base == floor) worth += contact(below, way_->end[block]);
                    if (base + size_[block] == top) worth += contact(end_of(layout, gap), way_->end[block]);
                    candidates_.push_back({worth, index, gap, base});
                }
                result_.work += kLooksACandidate * static_cast<std::int64_t>(bases_.size());
            }
            if (gap < layout.live.size()) floor = layout.base[gap] + size_[layout.live[gap]], below = way_->end[layout.live[gap]];
        }
    }

    void find_bases(const Layout& layout, std::size_t gap, Index block, Coord lowest, Coord highest) {
        bases_.clear();
        const Coord low = up(block, lowest), high = down(block, highest);
        if (low > high) return;
        bases_.push_back(low);
        const auto consider = [&](Coord base) {
            if (low < base && base <= high && std::find(bases_.begin(), bases_.end(), base) == bases_.end()) bases_.push_back(base);
        };
        consider(high);
        if (way_->later[block].empty()) return;
        const auto leave_room = [&](Coord floor, Coord top) {
            for (const Coord room : way_->later[block]) consider(up(block, floor + room)), consider(down(block, top - room - size_[block]));
        };
        leave_room(floor_of(layout, gap), ceiling(layout, gap));
        // Neighbours that end before the block are ignored: the room is measured from the block behind them.
        const bool is_below_gone = gap > 0 && way_->end[layout.live[gap - 1]] < way_->end[block], is_above_gone = end_of(layout, gap) < way_->end[block];
        if (is_below_gone || is_above_gone) leave_room(floor_of(layout, gap - (is_below_gone ? 1 : 0)), ceiling(layout, gap + (is_above_gone ? 1 : 0)));
    }

    void keep_the_best(Index block, std::size_t width) {
        // Twice the width, since some are equal.
        const std::size_t looked_at = std::min(candidates_.size(), 2 * width);
        const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(looked_at);
        if (last != candidates_.end()) std::nth_element(candidates_.begin(), last, candidates_.end());
        std::sort(candidates_.begin(), last);
        names_.clear();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < looked_at && kept < width; ++i) {
            const BeamCandidate& candidate = candidates_[i];
            const Layout& from = kept_[candidate.layout];
            const std::uint64_t name = from.name + name_of_place(block, candidate.base);
            if (!names_.insert(name).second) continue;
            if (kept == next_.size()) next_.emplace_back();
            Layout& layout = next_[kept++];
            insert(from.live, candidate.gap, block, layout.live);
            insert(from.base, candidate.gap, candidate.base, layout.base);
            result_.work += static_cast<std::int64_t>(layout.live.size()) + kLooksALayout;
            layout.worth = candidate.worth, layout.name = name, layout.step = static_cast<std::int64_t>(steps_.size());
            steps_.push_back({from.step, candidate.base});
        }
        next_.resize(kept);
        std::swap(kept_, next_);
    }

    template <typename Item>
    static void insert(const std::vector<Item>& from, std::size_t at, Item item, std::vector<Item>& to) {
        to.resize(from.size() + 1);
        const auto middle = from.begin() + static_cast<std::ptrdiff_t>(at);
        const auto rest = std::copy(from.begin(), middle, to.begin());
        *rest = item;
        std::copy(middle, from.end(), rest + 1);
    }

    // Where no layout had room, the next sweep keeps more layouts on the way there.
    void learn(std::size_t turn) {
        for (std::size_t i = turn - std::min(turn, kStretch); i <= turn; ++i) way_->times[i] = std::min(2 * way_->times[i], kMostTimes);
    }

    Coord peak_of(const std::vector<Coord>& offsets) const {
        Coord peak = 0;
        for (Index block = 0; block < count_; ++block) peak = std::max(peak, offsets[block] + size_[block]);
        return peak;
    }

    bool is_over() { return result_.work >= options_.work || is_stopped(); }

    bool is_stopped() {
        if (!stopped_ && breath_.is_over()) {
            stopped_ = report_(news_ ? &result_.offsets : nullptr);
            news_ = false;
        }
        return stopped_;
    }

    const SearchInput& input_;
    const ImprovementOptions& options_;
    const ImprovementReport& report_;
    const Index count_;
    std::vector<Coord> size_;
    std::vector<Way> ways_;
    Way* way_ = nullptr;  // of this sweep, or the last
    std::vector<Layout> kept_, next_;
    std::vector<BeamCandidate> candidates_;
    std::vector<Coord> bases_;
    std::vector<BeamStep> steps_;
    std::unordered_set<std::uint64_t> names_;
    std::vector<Coord> until_;  // total weight of the sections before each
    Coord height_ = 0, now_ = 0, mismatch_ = 0;
    bool stopped_ = false, news_ = false;
    Breath breath_;
    Improvement result_;
};

}  // namespace

bool beam_takes(const SearchInput& input) {
    const std::size_t blocks = input.blocks();
    if (input.parts() != blocks || input.rects() != blocks || !input.reserved.empty() || !input.conflicts.empty() || !input.exclusions.empty()) return false;
    std::vector<bool> seen(blocks, false);
    for (std::size_t rect = 0; rect < blocks; ++rect) {
        const Coord part = input.rect_part[rect], block = input.part_block[part];
        if (seen[block] || input.part_low[part] != 0) return false;
        seen[block] = true;
    }
    return true;
}

Improvement sweep_with_beam(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report) {
    return Beam(input, options, report).run();
}

}  // namespace memplan
