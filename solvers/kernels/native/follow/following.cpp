#include "follow/following.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "shared/improvement.hpp"
#include "shared/random.hpp"

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/follow.py.
constexpr std::int64_t kAStep = 200, kAState = 12, kInRoom = 2, kAKept = 14;

using Word = std::uint64_t;  // of numbers in it, sums wrap as numpy's do
using Number = std::uint32_t;

bool is_below(Word a, Word b) { return static_cast<Coord>(a) < static_cast<Coord>(b); }

// Choices, those of a division together and the cheapest first. A row has the room in each pool, and then a byte for each place: the pool of the class in it.
struct States {
    std::vector<Word> rows, code;
    std::vector<double> cost;
    std::vector<Number> from;  // which choice each comes of, when the last class came

    void resize(std::size_t count, std::size_t width) {
        rows.resize(count * width), code.resize(count), cost.resize(count), from.resize(count);
    }
};

struct Run {
    Number division = 0;
    std::size_t begin = 0, end = 0;
};

// Who came, and to which pool and of which choice each of all choices comes.
struct Arrival {
    std::size_t who = 0;
    std::vector<Number> from;
    std::vector<unsigned char> pool;
};

// The next choice that has room for a class in a pool, and what it costs then.
struct Head {
    std::size_t pool = 0, at = 0;
    Word units = 0;
    double due = 0, cost = 0;
};

class Following {
public:
    Following(const Divisions& divisions, const Course& course, const FollowingOptions& options, const FollowingReport& report)
        : course_(course), options_(options), report_(report), pools_(options.pools), place_(options.classes()), mark_(options.classes()) {
        Random random(0);
        for (Word& mark : mark_) mark = random.next();
        find_places(divisions);
        const std::size_t count = divisions.room.size() / pools_;
        now_.resize(count, width_);
        for (std::size_t s = 0; s < count; ++s) {
            Word* const row = row_of(now_, s);
            for (std::size_t p = 0; p < pools_; ++p) row[p] = static_cast<Word>(divisions.room[s * pools_ + p]);
            for (std::size_t i = 0; i < divisions.classes.size(); ++i) {
                const auto who = static_cast<std::size_t>(divisions.classes[i]);
                const Coord pool = divisions.chosen[s * divisions.classes.size() + i];
                pool_in(row, place_[who]) = static_cast<unsigned char>(pool);
                now_.code[s] += mark_[who] * static_cast<Word>(pool + 1);
            }
            runs_.push_back({static_cast<Number>(s), s, s + 1});
        }
    }

    Followed run() {
        for (std::size_t step = 0; step < course_.steps() && goes_on(); ++step) {
            go_to(step);
            for (std::size_t change = first_coming_; change < change_of(step + 1) && goes_on(); ++change) add(change);
        }
        for (const Run& run : runs_) {
            result_.divisions.push_back(run.division);
            result_.cost.push_back(now_.cost[run.begin]);
            if (options_.with_pools) list_pools(run.begin);
        }
        result_.work = (result_.work + kFollowingPerMicrosecond - 1) / kFollowingPerMicrosecond;
        return std::move(result_);
    }

private:
    Word* row_of(States& states, std::size_t s) const { return states.rows.data() + s * width_; }
    unsigned char& pool_in(Word* row, std::size_t place) const { return reinterpret_cast<unsigned char*>(row + pools_)[place]; }
    std::size_t change_of(std::size_t step) const { return static_cast<std::size_t>(course_.begin[step]); }
    std::size_t who(std::size_t change) const { return static_cast<std::size_t>(course_.who[change]); }
    Word more(std::size_t change, std::size_t pool) const { return static_cast<Word>(course_.more[change * pools_ + pool]); }

    bool goes_on() {
        if (breath_.is_due(result_.work) && report_()) runs_.clear();
        return !runs_.empty();
    }

    // Classes that are never there together share a place.
    void find_places(const Divisions& divisions) {
        std::vector<std::size_t> free;
        std::size_t places = 0;
        const auto take = [&](std::size_t who) {
            if (free.empty()) free.push_back(places++);
            place_[who] = free.back();
            free.pop_back();
        };
        for (const Coord who : divisions.classes) take(static_cast<std::size_t>(who));
        for (std::size_t change = 0; change < course_.who.size(); ++change) {
            if (course_.kind[change] == kComes) take(who(change));
            if (course_.kind[change] == kGoes) free.push_back(place_[who(change)]);
        }
        width_ = pools_ + (places + sizeof(Word) - 1) / sizeof(Word);
    }

    // From now on this much is taken; what does not fit is left out, and of those that are the same now, all but the cheapest.
    void go_to(std::size_t step) {
        const std::size_t first = change_of(step), end = change_of(step + 1);
        for (first_coming_ = first; first_coming_ < end && course_.kind[first_coming_] != kComes;) ++first_coming_;
        const bool goes = std::any_of(course_.kind.data() + first, course_.kind.data() + first_coming_, [](Coord kind) { return kind == kGoes; });
        const Coord* const always = course_.always.data() + step * pools_;
        result_.work += kAStep + kAState * static_cast<std::int64_t>(runs_.back().end);

        std::size_t kept = 0, left = 0;
        for (const Run& run : runs_) {
            const std::size_t begin = kept;
            if (goes) known_.assign(std::bit_ceil(2 * (run.end - run.begin)), 0);
            for (std::size_t s = run.begin; s < run.end; ++s) {
                Word* const row = row_of(now_, s);
                for (std::size_t p = 0; p < pools_; ++p) row[p] -= static_cast<Word>(always[p]);
                for (std::size_t change = first; change < first_coming_; ++change) {
                    const std::size_t pool = pool_in(row, place_[who(change)]);
                    row[pool] -= more(change, pool);
                    if (course_.kind[change] == kGoes) now_.code[s] -= mark_[who(change)] * (pool + 1);
                }
                if (std::any_of(row, row + pools_, [](Word room) { return is_below(room, 0); }) || (goes && is_known(now_.code[s], kept))) continue;
                if (kept < s) {
                    std::copy_n(row, width_, row_of(now_, kept));
                    now_.code[kept] = now_.code[s], now_.cost[kept] = now_.cost[s];
                }
                now_.from[kept] = now_.from[s];
                ++kept;
            }
            if (kept > begin) runs_[left++] = {run.division, begin, kept};
        }
        runs_.resize(left);
    }

    // Was there such a choice of this division before? If not, it is remembered by this number.
    bool is_known(Word code, std::size_t number) {
        const std::size_t mask = known_.size() - 1;
        std::size_t at = (code >> 32) & mask;
        for (; known_[at] != 0; at = (at + 1) & mask) {
            if (now_.code[known_[at] - 1] == code) return true;
        }
        known_[at] = static_cast<Number>(number + 1);
        return false;
    }

    // Each goes on with the class in each pool that has room for it, at that cost; about as many as may be in all.
    void add(std::size_t change) {
        homes_.clear();
        for (std::size_t p = 0; p < pools_; ++p) {
            const double due = options_.cost[who(change) * pools_ + p];
            if (std::isfinite(due)) homes_.push_back({p, 0, more(change, p), due, 0});
        }
        const auto [limit, expected] = most_of_each();
        next_.resize(std::max(next_.cost.size(), expected), width_);
        const std::size_t place = place_[who(change)];
        const Word mark = mark_[who(change)];
        std::size_t made = 0, left = 0;
        if (options_.with_pools) {
            arrivals_.push_back({who(change), {}, {}});
            arrivals_.back().from.reserve(expected), arrivals_.back().pool.reserve(expected);
        }
        for (const Run& run : runs_) {
            const std::size_t begin = made;
            heads_.clear();
            for (Head head : homes_) {
                head.at = run.begin;
                if (finds_next(head, run.end)) heads_.push_back(head);
            }
            for (; !heads_.empty() && made - begin < limit; ++made) {
                auto head = heads_.begin();
                for (auto other = head + 1; other != heads_.end(); ++other) head = other->cost < head->cost ? other : head;
                Word* const row = row_of(next_, made);
                std::copy_n(row_of(now_, head->at), width_, row);
                row[head->pool] -= head->units;
                pool_in(row, place) = static_cast<unsigned char>(head->pool);
                next_.code[made] = now_.code[head->at] + mark * (head->pool + 1);
                next_.cost[made] = head->cost;
                next_.from[made] = static_cast<Number>(made);
                if (options_.with_pools) {
                    arrivals_.back().from.push_back(now_.from[head->at]);
                    arrivals_.back().pool.push_back(static_cast<unsigned char>(head->pool));
                }
                ++head->at;
                if (!finds_next(*head, run.end)) heads_.erase(head);
            }
            if (made > begin) runs_[left++] = {run.division, begin, made};
        }
        runs_.resize(left);
        std::swap(now_, next_);
        result_.work += kAKept * static_cast<std::int64_t>(made);
    }

    // How many of a division go on at most, and of all.
    std::pair<std::size_t, std::size_t> most_of_each() {
        std::size_t all = 0, alive = 0;
        for (const Run& run : runs_) {
            const std::size_t before = all;
            for (std::size_t s = run.begin; s < run.end; ++s) {
                const Word* const row = row_of(now_, s);
                for (const Head& home : homes_) all += !is_below(row[home.pool], home.units);
            }
            alive += all > before;
        }
        result_.work += kInRoom * static_cast<std::int64_t>(runs_.back().end);
        if (all <= options_.most) return {all, all};
        const std::size_t limit = std::max<std::size_t>(options_.most / alive, 1);
        return {limit, limit * alive};
    }

    bool finds_next(Head& head, std::size_t end) {
        while (head.at < end && is_below(row_of(now_, head.at)[head.pool], head.units)) ++head.at;
        if (head.at == end) return false;
        head.cost = now_.cost[head.at] + head.due;
        return true;
    }

    void list_pools(std::size_t s) {
        const std::size_t begin = result_.pools.size();
        result_.pools.resize(begin + options_.classes(), -1);
        Number at = now_.from[s];
        for (std::size_t i = arrivals_.size(); i-- > 0; at = arrivals_[i].from[at]) result_.pools[begin + arrivals_[i].who] = arrivals_[i].pool[at];
    }

    const Course& course_;
    const FollowingOptions& options_;
    const FollowingReport& report_;
    const std::size_t pools_;
    std::size_t width_ = 0;  // of a row
    std::vector<std::size_t> place_;
    std::vector<Word> mark_;  // of each class: choices that have the same classes in the same pools have the same sum of marks
    States now_, next_;
    std::vector<Run> runs_;
    std::vector<Arrival> arrivals_;
    std::vector<Head> homes_, heads_;
    std::vector<Number> known_;
    std::size_t first_coming_ = 0;
    Breath breath_;
    Followed result_;
};

}  // namespace

Followed follow(const Divisions& divisions, const Course& course, const FollowingOptions& options, const FollowingReport& report) {
    return Following(divisions, course, options, report).run();
}

}  // namespace memplan
