#include "gluing/gluing.hpp"

#include <algorithm>

#include "gluing/boxes.hpp"
#include "gluing/course.hpp"
#include "gluing/exact.hpp"
#include "gluing/gluer.hpp"

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/gluing.
constexpr Coord kTrifle = Coord{1} << 20;        // cost of a joint that wastes nothing
constexpr std::size_t kCandidates = 8;           // most joints kept for a piece
constexpr int kNear = 4;                         // number of times before and after at which neighbours are looked for,
constexpr int kMostAtOnce = 12;                  // and of neighbours at each
constexpr Coord kTemperature = 9'000;            // 0.2 divided by the natural logarithm of 2
constexpr Coord kFirstGap = 60;                  // the first gap is this part of the live sum
constexpr Coord kWider = 3;                      // the gap grows by this factor after a failure
constexpr std::int64_t kPartOfWork = 4;          // this part of all work for one height,
constexpr std::int64_t kLooksABlock = 400'000;   // but at first no more than this; all but this part for exact joints alone,
constexpr std::size_t kFewLeft = 4;              // which end if more than this part of all blocks is left at first: few of them fit exactly
constexpr int kMostFailures = 5;                 // rounds of failed heights, each with twice as much work
constexpr std::int64_t kStuck = 30;              // without a new minimum of pieces for this multiple of the work of the first gluing
constexpr std::int64_t kNoSlack = 4;             // without slack it goes on for this multiple of the same
constexpr std::size_t kMostLeft = 30;            // if at most this many pieces are left, they are piled up;
constexpr std::size_t kMostBoxes = 100;          // with at most this many, the exact search is asked,
constexpr std::int64_t kBoxesWork = 20'000;      // with this many microseconds of work
constexpr std::int64_t kShort = 2;               // going on from a success begins with this multiple of the work of the first gluing,
constexpr int kSteps = 4;                        // and tries this many heights before it takes twice as much

class Gluing final : Gluer {
public:
    Gluing(const LeafBlocks& blocks, const ImprovementOptions& options, Course& course)
        : Gluer(blocks, course, kTemperature, kLooksAPayment), options_(options), live_(blocks.live()), unit_(blocks.unit()) {
        result_.offsets.assign(options.start.begin(), options.start.end());
        for (const Coord live : live_) least_ = std::max(least_, live);
        result_.peak = blocks_.peak_of(result_.offsets);
        least_ = std::max(least_, std::min(options.enough, result_.peak) / unit_);
    }

    Improvement run() {
        if (!live_.empty() && !glue_exactly(options_.work - options_.work / kPartOfWork)) try_heights();
        result_.work = course_.work;
        return std::move(result_);
    }

private:
    // Tries height after height: closer to `enough` after a success, going on from it, farther after a failure, and with more work once all have failed.
    void try_heights() {
        std::int64_t patience = std::min(options_.work / kPartOfWork, kLooksABlock * static_cast<std::int64_t>(blocks_.count()));
        if (suits_exact_) go_on(patience);
        Coord gap = first_gap();
        int failed = 0;
        bool is_better = true;
        while (result_.peak > options_.enough && !course_.is_over()) {
            if (is_better && !suits_exact_) {
                // Blocks cut from a whole without waste go together with no slack sooner than with a little.
                glue_once(least_);
                if (places(course_.work + std::min(patience, kNoSlack * once_))) break;  // nothing is lower
            }
            gap = std::min(gap, most_gap() / 2);
            const Coord known = result_.peak;
            is_better = attempt(least_ + gap, course_.work + patience) || result_.peak < known;
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
    }

    // The distance of the best peak from the least possible one.
    Coord most_gap() const { return (result_.peak + unit_ - 1) / unit_ - least_; }
    Coord first_gap() const { return std::min(least_ / kFirstGap, most_gap() / 2); }

    // Glues blocks that leave no room unused, window after window. True if that places them; else it keeps the pieces that are left.
    bool glue_exactly(std::int64_t until) {
        if (std::any_of(live_.begin(), live_.end(), [&](Coord live) { return live < least_; })) return false;
        ExactGluing exact(blocks_, course_, least_);
        exact.glue_all();
        has_wheels_ = exact.has_wheels();
        suits_exact_ = exact.glued().loose() * kFewLeft <= blocks_.count();
        if (!suits_exact_) return false;
        for (bool is_better = true; !course_.is_over(); is_better = exact.renew(until)) {
            if ((is_better && fits(exact.glued().forest(), least_)) || course_.work >= until) break;
        }
        glued_ = exact.glued(), once_ = exact.once();
        return result_.peak <= options_.enough;  // what fits may still have no place: some blocks may not lie high
    }

    // Glues all blocks below a height, from the start again where it gets stuck. True if one piece is left.
    bool attempt(Coord height, std::int64_t until) {
        for (noise_ = 0; !course_.is_over(); noise_ = kNoises[0]) {
            glue_once(height);
            if (places(until)) return true;
            if (course_.work >= until) break;
        }
        return false;
    }

    // Goes on from what was glued to lower heights than the peak: half of the gap lower, and less after failures.
    void go_on(std::int64_t patience) {
        Assembly kept = glued_;
        std::int64_t work = kShort * once_;
        int failed = 0;
        while (work <= kShort * patience && most_gap() > 0 && result_.peak > options_.enough && !course_.is_over()) {
            const Coord known = result_.peak, step = std::max<Coord>(most_gap() >> (failed + 1), 1);
            glue_lower(least_ + most_gap() - step, course_.work + work);
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
        glued_.lower(height, course_.work);
        forget();
        noise_ = 0;
        const std::vector<Node> loose = glued_.forest().loose();
        for (const Node node : loose) {
            if (course_.is_over()) return;
            look_around(node);
        }
        glue();
        if (!fits(glued_.forest(), glued_.height())) places(until);
    }

    // True if the blocks have a place below the height after moves.
    bool places(std::int64_t until) {
        improve(until, kStuck * once_);
        if (fits(glued_.forest(), glued_.height())) return true;
        if (glued_.loose() <= kMostLeft) {
            const std::vector<Node> boxes = by_area(glued_.forest(), glued_.slack());
            settle(glued_.forest(), boxes, piled(glued_.forest(), boxes, course_));
        }
        return glued_.loose() == 1;
    }

    // Asks the exact search for places of the pieces that are left, if there are several.
    bool fits(const Forest& forest, Coord height) {
        const std::int64_t left = course_.left() / kGluingLooksPerMicrosecond;
        if (forest.loose().size() == 1) return settle(forest, forest.loose(), {0}), true;
        if (forest.loose().size() > kMostBoxes || left <= 0) return false;
        std::int64_t done = 0;
        const auto bases = placed_below(height, forest, course_.random.next(), std::min(left, kBoxesWork), done, [this] { return course_.stops(); });
        course_.work += done * kGluingLooksPerMicrosecond;
        if (bases) settle(forest, forest.loose(), *bases);
        return bases.has_value();
    }

    // Any loose piece or any block: loose pieces alone would have few times.
    Node place() override {
        const std::vector<Node>& loose = glued_.forest().loose();
        return course_.below(2) == 0 ? loose[course_.below(loose.size())] : static_cast<Node>(course_.below(blocks_.count()));
    }

    // None if there is not enough slack.
    std::optional<Coord> key_of(const Piece& made) override {
        Coord cost = kTrifle;
        course_.work += kLooksAJoint;
        if (!glued_.wasted(made, [&](std::int32_t begin, std::int32_t end, Coord height) {
                return glued_.slack().price(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), height, cost, course_.work);
            })) return std::nullopt;
        const Coord key = log2_of(static_cast<std::uint64_t>(cost));
        if (cost > kTrifle || made.joint == Joint::kStack) return key;
        const auto [ends, begins] = rivals(made);
        course_.work += ends + begins;
        return key + chance(made);
    }

    void consider(Node node, Node other) {
        if (node == other) return;
        const Piece &a = glued_.forest()[node], &b = glued_.forest()[other];
        const bool in_order = a.end <= b.begin || (a.begin < b.end && node < other);
        const Node first = in_order ? node : other, second = in_order ? other : node;
        for (const Candidate& known : found_) {
            if (known.parts[0] == first && known.parts[1] == second) return;
        }
        add(glued_.joined(first, second));
    }

    void add(const Piece& made) {
        const std::optional<Coord> key = key_of(made);
        if (!key) return;
        const Coord noise = some_noise();
        found_.push_back({*key + noise, static_cast<std::uint32_t>(found_.size()), made.parts, noise});
    }

    void look_around(Node node) override {
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
        for (const Parts& parts : wheels_with(node)) add(glued_.joined(parts));
        const std::size_t kept = std::min(found_.size(), kCandidates);
        std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(kept), found_.end(), [](const Candidate& a, const Candidate& b) { return b > a; });
        for (std::size_t i = 0; i < kept; ++i) push_anew(found_[i]);
    }

    // Takes the placement of the pieces at these bases if it is better.
    void settle(const Forest& forest, const std::vector<Node>& boxes, const std::vector<Coord>& bases) {
        auto offsets = blocks_.settle(forest, boxes, bases, options_.falls, course_.work);
        if (!offsets) return;
        const Coord peak = blocks_.peak_of(*offsets);
        if (peak >= result_.peak) return;
        result_.offsets = std::move(*offsets), result_.peak = peak;
        if (!options_.falls) result_.parents = blocks_.parents(forest, boxes);
        course_.report(result_.offsets);
    }

    const ImprovementOptions& options_;
    const std::vector<Coord>& live_;
    const Coord unit_;
    Coord least_ = 0;
    std::vector<Candidate> found_;
    bool suits_exact_ = false;
    Improvement result_;
};

}  // namespace

Improvement glue_together(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report) {
    const LeafBlocks blocks(input);
    Course course(options, report);
    return Gluing(blocks, options, course).run();
}

}  // namespace memplan
