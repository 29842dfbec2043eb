#include "displace/displacing.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "shared/around.hpp"
#include "shared/blocks.hpp"
#include "shared/improvement.hpp"
#include "shared/places.hpp"
#include "shared/random.hpp"

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/displace.py.
constexpr int kMostDisplacing = 3;  // so many blocks after the first may throw others out, too
constexpr int kAgainEvery = 8;           // one move of so many places some again, if each block may search for a place as often as that takes looks,
constexpr std::size_t kMostBeside = 11;  // with so many others at most
constexpr std::uint64_t kWaysAgain = 3, kNoise = 3072;
constexpr double kNoiseUnit = 1024.0, kCooler = 10.0;  // these moves are held to a smaller limit
constexpr std::int64_t kLooksADraw = 4;
constexpr std::int64_t kLooksAPlace = 20;
constexpr std::int64_t kMeetingPerLook = 4;
constexpr std::int64_t kLooksAClosed = 2;
constexpr double kLogarithms = 1477.0;  // 1024 / ln 2: logarithms are to the base of 2, in parts of 1024

__extension__ using Wide = unsigned __int128;

class Displacing {
public:
    Displacing(const SearchInput& input, const Homes& homes, const DisplacingOptions& options, const DisplacingReport& report)
        : blocks_(input), around_(blocks_), homes_(homes), options_(options), report_(report), random_(options.seed), pools_(homes.endless.size()),
          known_(blocks_.count), order_(blocks_.count), loss_(blocks_.count * pools_, -1), is_stale_(blocks_.count, false) {
        result_.pool.assign(options.pool.begin(), options.pool.end());
        result_.offset.assign(options.offset.begin(), options.offset.end());
        for (Index block = 0; block < blocks_.count; ++block) {
            known_[block] = {result_.offset[block], static_cast<Index>(result_.pool[block]), homes.stays[block] != 0, false, false};
            if (homes.stays[block] != 0) continue;
            rank_homes(block);
            closed_.clear();
            around_.each(block, [&](Index other, Coord low, Coord high) {
                if (other != block) closed_.push_back({low, high, 0, other, false});
            });
            around_.without_repeats(closed_);
            known_[block].looks = kLooksAPlace + static_cast<std::int64_t>(closed_.size()) / kMeetingPerLook;
        }
        taken_.resize(pools_);
        for (std::size_t i = 0; i < homes.taken.size(); i += 3) {
            if (homes.taken[i + 1] < homes.taken[i + 2]) taken_[static_cast<std::size_t>(homes.taken[i])].push_back({homes.taken[i + 1], homes.taken[i + 2]});
        }
    }

    Displaced run() {
        sum_ = best_ = excess();
        const double hottest = movable_.empty() ? 0.0 : static_cast<double>(sum_ / static_cast<Coord>(movable_.size()));
        std::int64_t enough = 0;
        for (const Index block : movable_) enough += known_[block].looks * known_[block].looks;
        const bool places_again = options_.work >= enough;
        for (std::int64_t number = 0; sum_ > 0 && !is_over(); ++number) {
            result_.work += kLooksADraw;
            const Index block = movable_[below(movable_.size())];
            const double left = static_cast<double>(std::max<std::int64_t>(options_.work - result_.work, 0)) / static_cast<double>(options_.work);
            const double heat = hottest * left;
            if (places_again && number % kAgainEvery == 0) {
                finish(place_again(block, limit(heat / kCooler)));
                continue;
            }
            const auto& order = order_[block];
            const Coord cost = cost_of(block, known_[block].pool);
            std::size_t cheaper = 0;
            while (cheaper < order.size() && cost_of(block, order[cheaper]) < cost) ++cheaper;
            if (cheaper == 0) continue;
            const Index target = order[below(cheaper)];
            finish(move(block, target, limit(heat)));
        }
        return std::move(result_);
    }

private:
    // What is read of each neighbour of a block, side by side.
    struct Known {
        Coord base = 0;
        Index pool = 0;
        bool stays = false;
        bool is_out = false;
        bool has_come = false;  // in the present move
        std::int64_t looks = 0;  // that a search for its place takes at least
    };
    struct Before {
        Index block = 0, pool = 0;
        Coord base = 0;
    };

    Coord cost_of(Index block, Index pool) const { return homes_.cost[block * pools_ + pool]; }

    std::uint64_t below(std::size_t count) { return static_cast<std::uint64_t>(static_cast<Wide>(random_.next()) * count >> 64); }

    // Of a random number between 0 and 1, less than 0 by definition: its size.
    std::int64_t logarithm() {
        const std::uint64_t drawn = random_.next() | 1;
        const int zeros = std::countl_zero(drawn);
        return zeros * 1024 + 2048 - static_cast<std::int64_t>((drawn << zeros) >> 53);
    }

    // By how much the next move may make all dearer.
    Coord limit(double heat) { return static_cast<Coord>(heat * static_cast<double>(logarithm()) / kLogarithms); }

    bool is_over() {
        if (result_.work >= options_.work) return true;
        if (!stopped_ && breath_.is_due(result_.work)) stopped_ = report_();
        return stopped_;
    }

    // The pools of a block, the cheapest first, and what it loses if it has to go from one to the next one that costs no less.
    void rank_homes(Index block) {
        auto& order = order_[block];
        for (Index pool = 0; pool < pools_; ++pool) {
            if (homes_.lowest[block * pools_ + pool] <= homes_.highest[block * pools_ + pool]) order.push_back(pool);
        }
        std::sort(order.begin(), order.end(), [&](Index a, Index b) { return std::pair(cost_of(block, a), a) < std::pair(cost_of(block, b), b); });
        for (const Index pool : order) {
            for (const Index other : order) {
                const Coord more = cost_of(block, other) - cost_of(block, pool);
                Coord& loss = loss_[block * pools_ + pool];
                if (other != pool && more >= 0 && (loss < 0 || more < loss)) loss = more;
            }
        }
        if (order.size() > 1) movable_.push_back(block);
    }

    // By how much all together cost more than each where it is cheapest.
    Coord excess() const {
        Coord sum = 0;
        for (const Index block : movable_) sum += cost_of(block, known_[block].pool) - cost_of(block, order_[block].front());
        return sum;
    }

    // Moves a block and whom it displaces, so that all together cost no more than so much more; false if that does not succeed.
    bool move(Index block, Index target, Coord allowed) {
        before_.clear(), out_.clear();
        delta_ = least_ = 0;
        throw_out(block);
        for (int number = 0; !out_.empty(); ++number) {
            if (delta_ + least_ > allowed) return false;
            const Index next = take_one();
            const bool is_settled = number == 0 ? settle(next, std::span(&target, 1), true) : settle(next, order_[next], number <= kMostDisplacing);
            if (!is_settled) return false;
        }
        return delta_ <= allowed;
    }

    // Lifts a block and some that live beside it, and sets them down one by one where they cost least, without throwing anybody out.
    bool place_again(Index block, Coord allowed) {
        before_.clear(), out_.clear(), beside_.clear(), again_.clear();
        delta_ = least_ = 0;
        result_.work += known_[block].looks;
        around_.each(block, [&](Index other, Coord, Coord) {
            if (other != block && order_[other].size() > 1) beside_.push_back(other);
        });
        std::sort(beside_.begin(), beside_.end());
        beside_.erase(std::unique(beside_.begin(), beside_.end()), beside_.end());
        const std::size_t more = std::min<std::size_t>(below(kMostBeside + 1), beside_.size());
        throw_out(block);
        for (std::size_t i = 0; i < more; ++i) {
            std::swap(beside_[i], beside_[i + below(beside_.size() - i)]);
            throw_out(beside_[i]);
        }
        const std::uint64_t way = below(kWaysAgain);
        for (const Before& one : before_) {
            const auto& order = order_[one.block];
            const double saved = static_cast<double>(cost_of(one.block, order.back()) - cost_of(one.block, order.front()));
            const double size = static_cast<double>(blocks_.high[one.block] + 1);
            const double noise = 1.0 + static_cast<double>(below(kNoise)) / kNoiseUnit;
            again_.emplace_back(-(way == 0 ? saved : way == 1 ? size : saved / size) * noise, one.block);
        }
        std::sort(again_.begin(), again_.end());
        for (const auto& [_, next] : again_) {
            if (delta_ + least_ > allowed) return false;
            least_ -= cost_of(next, order_[next].front());
            if (!settle(next, order_[next], false)) return false;
        }
        return delta_ <= allowed;
    }

    void finish(bool is_kept) {
        if (is_kept) {
            keep();
        } else {
            undo();
        }
    }

    void throw_out(Index block) {
        Known& known = known_[block];
        before_.push_back({block, known.pool, known.base});
        known.is_out = true;
        delta_ -= cost_of(block, known.pool);
        least_ += cost_of(block, order_[block].front());
        out_.push(loss_[block * pools_ + known.pool], block);
    }

    Index take_one() {
        const Index block = out_.take();
        least_ -= cost_of(block, order_[block].front());
        return block;
    }

    // Puts a block where it costs least together with what those lose whom it throws out there.
    bool settle(Index block, std::span<const Index> pools, bool may_displace) {
        std::optional<Coord> least;
        Index pool = 0;
        Place place;
        for (const Index one : pools) {
            const Coord cost = cost_of(block, one);
            if (least && cost >= *least) break;
            if (homes_.endless[one] != 0) {
                least = cost, pool = one, place = {homes_.lowest[block * pools_ + one], 0};
                break;
            }
            const auto found = place_in(block, one);
            if (!found || (found->price > 0 && !may_displace) || (least && cost + found->price >= *least)) continue;
            least = cost + found->price, pool = one, place = *found;
            std::swap(closed_, in_the_way_);
        }
        if (!least) return false;
        Known& known = known_[block];
        known.base = place.base, known.pool = pool, known.is_out = false, known.has_come = true;
        delta_ += cost_of(block, pool);
        if (place.price == 0) return true;
        for (const Closed& closed : in_the_way_) {
            if (closed.low < place.base && place.base < closed.high && !known_[closed.block].is_out) throw_out(closed.block);
        }
        return true;
    }

    std::optional<Place> place_in(Index block, Index pool) {
        closed_.clear();
        around_.each(block, [&](Index other, Coord low, Coord high) {
            const Known& known = known_[other];
            if (known.pool != pool || known.is_out) return;
            const Coord loss = loss_[other * pools_ + pool];
            closed_.push_back({known.base + low, known.base + high, loss + 1, other, known.stays || known.has_come || loss < 0});
        });
        around_.without_repeats(closed_);
        const Coord high = blocks_.high[block];
        for (const Interval& taken : taken_[pool]) closed_.push_back({taken.low - high, taken.high, 0, kNone, true});
        result_.work += known_[block].looks + kLooksAClosed * static_cast<std::int64_t>(closed_.size());
        const std::size_t at = block * pools_ + pool;
        Span span{homes_.lowest[at], homes_.highest[at], homes_.modulus[at], homes_.residue[at]};
        span.highest -= (span.highest - span.lowest) % span.modulus;
        return places_.best(closed_, span, random_);
    }

    void keep() {
        sum_ += delta_;
        for (const Before& one : before_) {
            known_[one.block].has_come = false;
            if (!is_stale_[one.block]) is_stale_[one.block] = true, stale_.push_back(one.block);
        }
        if (sum_ >= best_) return;
        best_ = sum_;
        for (const Index block : stale_) {
            result_.pool[block] = known_[block].pool, result_.offset[block] = known_[block].base;
            is_stale_[block] = false;
        }
        stale_.clear();
    }

    void undo() {
        for (const Before& one : before_) {
            Known& known = known_[one.block];
            known.base = one.base, known.pool = one.pool, known.is_out = known.has_come = false;
        }
    }

    const Blocks blocks_;
    const Around around_;
    const Homes& homes_;
    const DisplacingOptions& options_;
    const DisplacingReport& report_;
    Random random_;
    const std::size_t pools_;
    std::vector<Known> known_;
    std::vector<std::vector<Index>> order_;  // the pools of each block, the cheapest first
    std::vector<Coord> loss_;                // of each block in each pool, if it has to leave; -1: it cannot
    std::vector<Index> movable_;             // those with several pools
    std::vector<std::vector<Interval>> taken_;
    std::vector<Before> before_;  // where everybody was who has moved
    DearestFirst out_;            // by what they lose
    std::vector<Index> beside_;   // who lives beside a block
    std::vector<std::pair<double, Index>> again_;  // who is placed again, in this order
    Coord delta_ = 0;             // what the move costs so far
    Coord least_ = 0;             // what those who are out cost at least
    std::vector<Closed> closed_, in_the_way_;
    Places places_;
    Coord sum_ = 0, best_ = 0;  // the excess now, and of the result
    std::vector<Index> stale_;  // who has moved since the result
    std::vector<bool> is_stale_;
    Displaced result_;
    bool stopped_ = false;
    Breath breath_;
};

}  // namespace

Displaced displace(const SearchInput& input, const Homes& homes, const DisplacingOptions& options, const DisplacingReport& report) {
    return Displacing(input, homes, options, report).run();
}

}  // namespace memplan
