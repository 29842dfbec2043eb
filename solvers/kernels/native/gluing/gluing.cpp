#include "gluing/gluing.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <queue>
#include <tuple>

#include "gluing/assembly.hpp"
#include "gluing/boxes.hpp"
#include "gluing/exact.hpp"
#include "shared/random.hpp"

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/gluing.
constexpr Coord kTrifle = Coord{1} << 20;        // cost of a joint that wastes nothing
constexpr std::size_t kCandidates = 8;           // most joints kept for a piece
constexpr int kNear = 4;                         // number of times before and after at which neighbours are looked for,
constexpr int kMostAtOnce = 12;                  // and of neighbours at each
constexpr Coord kWasteWeighs = 4;                // weight of wasting all slack, in pieces
constexpr Coord kTemperature = 9'000;            // 0.2 divided by the natural logarithm of 2
constexpr Coord kFirstGap = 60;                  // the first gap is this part of the live sum
constexpr Coord kWider = 3;                      // the gap grows by this factor after a failure
constexpr std::int64_t kPartOfWork = 4;          // this part of all work for one height, and for exact joints alone,
constexpr std::int64_t kLooksABlock = 400'000;   // but at first no more than this
constexpr std::size_t kFewLeft = 8;              // which end if more than this part of all blocks is left: they were not cut straight
constexpr int kMostFailures = 5;                 // rounds of failed heights, each with twice as much work
constexpr std::int64_t kStuck = 30;              // without a new minimum of pieces for this multiple of the work of the first gluing
constexpr std::int64_t kNoSlack = 4;             // without slack it goes on for this multiple of the same
constexpr std::size_t kMostLeft = 30;            // if at most this many pieces are left, they are piled up;
constexpr std::size_t kMostBoxes = 100;          // with at most this many, the exact search is asked,
constexpr std::int64_t kBoxesWork = 20'000;      // with this many microseconds of work
constexpr std::int64_t kShort = 2;               // going on from a success begins with this multiple of the work of the first gluing,
constexpr int kSteps = 4;                        // and tries this many heights before it takes twice as much
constexpr std::chrono::milliseconds kBreath{3};

struct Candidate {
    Coord key;
    std::uint32_t turn;
    Node first, second;
    Coord noise;
    Joint joint;
    bool operator>(const Candidate& other) const { return std::tie(key, turn) > std::tie(other.key, other.turn); }
};

class Gluing {
public:
    Gluing(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report)
        : blocks_(input), glued_(blocks_), options_(options), report_(report), live_(blocks_.live()), unit_(blocks_.unit()) {
        result_.offsets.assign(options.start.begin(), options.start.end());
        for (const Coord live : live_) least_ = std::max(least_, live);
        result_.peak = blocks_.peak_of(result_.offsets);
        least_ = std::max(least_, std::min(options.enough, result_.peak) / unit_);
    }

    // Tries height after height: closer to `enough` after a success, going on from it, farther after a failure, and with more work once all have failed.
    Improvement run() {
        if (live_.empty() || glue_exactly(options_.work / kPartOfWork)) return std::move(result_);
        std::int64_t patience = std::min(options_.work / kPartOfWork, kLooksABlock * static_cast<std::int64_t>(blocks_.count()));
        Coord gap = first_gap();
        int failed = 0;
        bool is_better = true;
        while (result_.peak > options_.enough && !is_over()) {
            if (is_better && !suits_exact_) {
                // Blocks cut from a whole without waste go together with no slack sooner than with a little.
                glue_once(least_);
                if (improve(result_.work + std::min(patience, kNoSlack * once_))) break;  // nothing is lower
            }
            gap = std::min(gap, most_gap() / 2);
            const Coord known = result_.peak;
            is_better = attempt(least_ + gap, result_.work + patience) || result_.peak < known;
            if (is_better) {
                go_on(patience), gap = most_gap() / 2, noise_ = kNoises[0];
                continue;
            }
            gap = std::max<Coord>(gap, 1);
            gap = gap > most_gap() / kWider ? most_gap() : gap * kWider;
            if (gap >= most_gap()) {
                if (++failed == kMostFailures) break;
                gap = first_gap(), patience *= 2;
            }
        }
        return std::move(result_);
    }

private:
    // The distance of the best peak from the least possible one.
    Coord most_gap() const { return (result_.peak + unit_ - 1) / unit_ - least_; }
    Coord first_gap() const { return std::min(least_ / kFirstGap, most_gap() / 2); }

    // Glues blocks that leave no room unused, from the start again where it gets stuck. True if that places them.
    bool glue_exactly(std::int64_t until) {
        if (std::any_of(live_.begin(), live_.end(), [&](Coord live) { return live < least_; })) return false;
        ExactGluing exact(live_.size(), blocks_.pieces(), random_, result_.work, [this] { return is_over(); });
        for (Coord noise = 0; !is_over() && result_.work < until; noise = kNoises[0]) {
            exact.glue_all(noise, until);
            suits_exact_ = exact.forest().loose().size() * kFewLeft <= blocks_.count();
            if (!suits_exact_) break;
            if (fits(exact.forest(), least_)) return result_.peak <= options_.enough;
        }
        return false;
    }

    // Glues all blocks below a height, from the start again where it gets stuck. True if one piece is left.
    bool attempt(Coord height, std::int64_t until) {
        for (noise_ = 0; !is_over(); noise_ = kNoises[0]) {
            glue_once(height);
            if (improve(until)) return true;
            if (result_.work >= until) break;
        }
        return false;
    }

    // Glues all blocks, from the cheapest joint on, without taking anything apart.
    void glue_once(Coord height) {
        const std::int64_t begun = result_.work;
        glued_.reset(height);
        forget();
        for (Node leaf = 0; leaf < static_cast<Node>(blocks_.count()) && !is_over(); ++leaf) look_around(leaf);
        glue();
        once_ = result_.work - begun;
    }

    // Goes on from what was glued with success to lower heights: half of the gap lower, and less after failures.
    void go_on(std::int64_t patience) {
        Assembly kept = glued_;
        std::int64_t work = kShort * once_;
        int failed = 0;
        while (work <= kShort * patience && most_gap() > 0 && result_.peak > options_.enough && !is_over()) {
            const Coord known = result_.peak, step = std::max<Coord>(most_gap() >> (failed + 1), 1);
            glue_lower(least_ + most_gap() - step, result_.work + work);
            if (result_.peak < known) {
                kept = glued_;
                failed = std::max(failed - 1, 0), work = std::max(work / 2, kShort * once_);
                continue;
            }
            glued_ = kept;
            if (++failed == kSteps) failed = 0, work *= 2;
        }
    }

    void glue_lower(Coord height, std::int64_t until) {
        glued_.lower(height, result_.work);
        forget();
        noise_ = 0;
        const std::vector<Node> loose = glued_.forest().loose();
        for (const Node node : loose) {
            if (is_over()) return;
            look_around(node);
        }
        glue();
        if (!fits(glued_.forest(), glued_.height())) improve(until);
    }

    // Takes apart and glues again until one piece is left, or it gets stuck. True if the blocks have a place below the height.
    bool improve(std::int64_t until) {
        log_.clear();
        std::int64_t last = result_.work;
        std::size_t fewest = glued_.loose();
        Coord energy = energy_now();
        while (glued_.loose() > 1 && result_.work < until && result_.work - last < kStuck * once_ && !is_over()) {
            if (glued_.loose() < fewest) fewest = glued_.loose(), last = result_.work;
            move();
            const Coord next = energy_now();
            if (!is_over() && next - energy <= leniency()) {
                energy = next;
                for (const Change& change : log_) {
                    if (!change.made) glued_.give_back(change.node);
                }
            } else {
                glued_.undo(log_, result_.work);
            }
            log_.clear();
        }
        if (fits(glued_.forest(), glued_.height())) return true;
        if (glued_.loose() <= kMostLeft) {
            const std::vector<Node> boxes = by_area(glued_.forest(), glued_.slack());
            settle(glued_.forest(), boxes, piled(glued_.forest(), boxes, [this](std::uint64_t most) { return below(most); }, result_.work));
        }
        return glued_.loose() == 1;
    }

    // Asks the exact search for places of the pieces that are left, if there are several.
    bool fits(const Forest& forest, Coord height) {
        const std::int64_t left = (options_.work - result_.work) / kGluingLooksPerMicrosecond;
        if (forest.loose().size() == 1) return settle(forest, forest.loose(), {0}), true;
        if (forest.loose().size() > kMostBoxes || left <= 0) return false;
        std::int64_t done = 0;
        const auto bases = placed_below(height, forest, random_.next(), std::min(left, kBoxesWork), done, [this] {
            tick();
            return stopped_;
        });
        result_.work += done * kGluingLooksPerMicrosecond;
        if (bases) settle(forest, forest.loose(), *bases);
        return bases.has_value();
    }

    void forget() { queue_ = {}, turn_ = 0, log_.clear(), fresh_.clear(); }

    Coord energy_now() const {
        return static_cast<Coord>(glued_.loose()) * kOne + glued_.waste() / (glued_.room() / (kWasteWeighs * kOne) + 1);
    }

    // The increase of energy that a move is allowed, at a constant temperature.
    Coord leniency() {
        const Coord bits = (Coord{64} << 16) - log2_of(random_.next());
        return bits * kTemperature >> 16;
    }

    std::uint64_t below(std::uint64_t most) { return (random_.next() >> 32) * most >> 32; }

    // Takes apart pieces that meet at one time, some way down, and glues them again.
    void move() {
        forget();
        noise_ = kNoises[below(std::size(kNoises))];
        const std::vector<Node>& loose = glued_.forest().loose();
        // The time is an end of a loose piece or of any block; loose pieces alone would leave few times.
        const Node where = below(2) == 0 ? loose[below(loose.size())] : static_cast<Node>(below(blocks_.count()));
        const std::int32_t time = below(2) == 0 ? glued_.forest()[where].begin : glued_.forest()[where].end;
        const bool is_loose = glued_.forest()[where].loose;
        touching_.clear();
        for (const Node other : loose) {
            if (other != where && touches(other, time)) touching_.push_back(other);
        }
        result_.work += static_cast<std::int64_t>(loose.size());
        const std::size_t others = std::min<std::size_t>(touching_.size(), 1 + below(kMostOthers));
        for (std::size_t i = 0; i < others; ++i) std::swap(touching_[i], touching_[i + below(touching_.size() - i)]);
        if (is_loose) take_apart(where, time);
        for (std::size_t i = 0; i < others; ++i) take_apart(touching_[i], time);
        for (const Node node : fresh_) {
            if (glued_.forest()[node].loose) look_around(node);
        }
        glue();
    }

    void take_apart(Node node, std::int32_t time) {
        fresh_.push_back(node);
        const std::uint64_t most = std::uint64_t{2} << below(kPathBits);
        for (std::uint64_t steps = 1 + below(most); steps > 0 && glued_.forest()[node].joint != Joint::kLeaf; --steps) {
            const Piece piece = glued_.forest()[node];
            glued_.split(node, result_.work);
            log_.push_back({node, false});
            fresh_.push_back(piece.first), fresh_.push_back(piece.second);
            const bool in_first = touches(piece.first, time), in_second = touches(piece.second, time);
            const bool goes_first = in_first == in_second ? below(2) == 0 : in_first;
            node = goes_first ? piece.first : piece.second;
        }
    }

    bool touches(Node node, std::int32_t time) const { return glued_.forest()[node].begin <= time && time <= glued_.forest()[node].end; }

    // Sets the logarithm of the joint's cost; false if there is not enough slack.
    bool key_of(Node first, Node second, Joint joint, Coord& key) {
        const Piece &a = glued_.forest()[first], &b = glued_.forest()[second];
        Coord cost = kTrifle;
        result_.work += kLooksAJoint;
        const Piece made = glued_.joined(first, second, joint);
        if (!glued_.wasted(made, [&](std::int32_t begin, std::int32_t end, Coord height) {
                return glued_.slack().price(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), height, cost, result_.work);
            })) return false;
        const bool is_exact = cost == kTrifle && joint == Joint::kChain;
        if (is_exact) cost *= rivals(a, b);
        key = log2_of(static_cast<std::uint64_t>(cost));
        // Equal heights are the less likely by chance the greater they are, so such joints are cheaper. Many rivals make a joint dearer: it can wait.
        if (is_exact) key -= std::min(log2_of(static_cast<std::uint64_t>(made.height) + 1), kMostSurety);
        return true;
    }

    // The number of pairs that could be chained there.
    Coord rivals(const Piece& a, const Piece& b) {
        const Coord ends = std::min<Coord>(glued_.forest().count_ending(a.end), kMostRivals);
        const Coord begins = std::min<Coord>(glued_.forest().count_beginning(b.begin), kMostRivals);
        result_.work += ends + begins;
        return ends * begins;
    }

    void consider(Node node, Node other) {
        if (node == other) return;
        const Piece &a = glued_.forest()[node], &b = glued_.forest()[other];
        Candidate c;
        c.joint = a.end <= b.begin || b.end <= a.begin ? Joint::kChain : Joint::kStack;
        const bool in_order = c.joint == Joint::kChain ? a.end <= b.begin : node < other;
        c.first = in_order ? node : other, c.second = in_order ? other : node;
        for (const Candidate& known : found_) {
            if (known.first == c.first && known.second == c.second) return;
        }
        if (!key_of(c.first, c.second, c.joint, c.key)) return;
        c.noise = 0;
        if (noise_ > 0) {
            const Coord up = static_cast<Coord>(below(kOne)), down = static_cast<Coord>(below(kOne));
            c.noise = (noise_ * (up - down)) >> 16;
        }
        c.key += c.noise;
        found_.push_back(c);
    }

    void look_around(Node node) {
        found_.clear();
        const Piece& piece = glued_.forest()[node];
        const auto beginning = [&](std::int32_t time) {
            int n = 0;
            for (Node other = glued_.forest().beginning_at(time); other != kNoNode && n < kMostAtOnce; other = glued_.forest()[other].next_begin, ++n) consider(node, other);
        };
        const auto ending = [&](std::int32_t time) {
            int n = 0;
            for (Node other = glued_.forest().ending_at(time); other != kNoNode && n < kMostAtOnce; other = glued_.forest()[other].next_end, ++n) consider(node, other);
        };
        beginning(piece.begin), ending(piece.end);
        std::int32_t t = piece.begin;
        for (int i = 0; i < kNear && (t = glued_.forest().next_begin(t + 1)) != kNoNode; ++i) beginning(t);
        t = piece.begin;
        for (int i = 0; i < kNear && (t = glued_.forest().last_begin(t - 1)) != kNoNode; ++i) beginning(t);
        t = piece.end;
        for (int i = 0; i < kNear && (t = glued_.forest().next_end(t + 1)) != kNoNode; ++i) ending(t);
        t = piece.end;
        for (int i = 0; i < kNear && (t = glued_.forest().last_end(t - 1)) != kNoNode; ++i) ending(t);
        t = piece.end - 1;
        for (int i = 0; i < kNear && (t = glued_.forest().next_begin(t + 1)) != kNoNode; ++i) beginning(t);
        t = piece.begin + 1;
        for (int i = 0; i < kNear && (t = glued_.forest().last_end(t - 1)) != kNoNode; ++i) ending(t);
        const std::size_t kept = std::min(found_.size(), kCandidates);
        for (std::size_t i = 0; i < found_.size(); ++i) found_[i].turn = static_cast<std::uint32_t>(i);
        std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(kept), found_.end(), [](const Candidate& a, const Candidate& b) { return b > a; });
        for (std::size_t i = 0; i < kept; ++i) found_[i].turn = turn_++, queue_.push(found_[i]);
    }

    void glue() {
        while (!queue_.empty()) {
            if (is_over()) return;
            Candidate c = queue_.top();
            queue_.pop();
            result_.work += kLooksAPayment;
            if (!glued_.forest()[c.first].loose || !glued_.forest()[c.second].loose) continue;
            Coord key;
            if (!key_of(c.first, c.second, c.joint, key)) continue;
            key += c.noise;
            if (key > c.key && !queue_.empty() && key > queue_.top().key) {
                c.key = key, c.turn = turn_++;
                queue_.push(c);
                continue;
            }
            const Node node = glued_.join(glued_.joined(c.first, c.second, c.joint), result_.work);
            log_.push_back({node, true});
            look_around(node);
        }
    }

    // Takes the placement of the pieces at these bases if it is better.
    void settle(const Forest& forest, const std::vector<Node>& boxes, const std::vector<Coord>& bases) {
        auto offsets = blocks_.settle(forest, boxes, bases, result_.work);
        if (!offsets) return;
        const Coord peak = blocks_.peak_of(*offsets);
        if (peak >= result_.peak) return;
        result_.offsets = std::move(*offsets), result_.peak = peak;
        stopped_ = report_(&result_.offsets) || stopped_;
    }

    bool is_over() {
        if (!stopped_ && (++looks_ & 15) == 0) tick();
        return stopped_ || result_.work >= options_.work;
    }

    void tick() {
        const auto time = std::chrono::steady_clock::now();
        if (time - last_tick_ < kBreath) return;
        last_tick_ = time;
        stopped_ = report_(nullptr);
    }

    const LeafBlocks blocks_;
    Assembly glued_;
    const ImprovementOptions& options_;
    const ImprovementReport& report_;
    const std::vector<Coord>& live_;
    const Coord unit_;
    Coord least_ = 0, noise_ = 0;
    std::int64_t once_ = 0;  // the work of the first gluing
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
    std::uint32_t turn_ = 0;
    std::vector<Candidate> found_;
    std::vector<Change> log_;
    std::vector<Node> fresh_, touching_;
    Random random_{options_.seed};
    unsigned looks_ = 0;
    bool stopped_ = false, suits_exact_ = false;
    std::chrono::steady_clock::time_point last_tick_ = std::chrono::steady_clock::now();
    Improvement result_;
};

}  // namespace

Improvement glue_together(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report) {
    return Gluing(input, options, report).run();
}

}  // namespace memplan
