#include "gluing/gluing.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <queue>
#include <tuple>

#include "gluing/forest.hpp"
#include "gluing/slack.hpp"
#include "shared/random.hpp"

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/gluing.py.
constexpr Coord kOne = Coord{1} << 16;           // of logarithms and energies
constexpr Coord kTrifle = Coord{1} << 20;        // what a joint costs that wastes nothing
constexpr std::size_t kCandidates = 8;           // joints of a piece that are kept in mind
constexpr int kNear = 4;                         // times before and after at which others are looked at,
constexpr int kMostAtOnce = 12;                  // and so many at each
constexpr Coord kNoises[] = {69'400, 231'300, 693'900};  // 2^x, x of a triangle with these half widths: e^y with deviations of 0.3, 1 and 3
constexpr Coord kWasteWeighs = 4;                // all the room there is, in pieces
constexpr Coord kTemperature = 9'000;            // 0.2 times the logarithm of 2 to the base e
constexpr std::uint64_t kPathBits = 9;           // paths are up to 2^1 .. 2^9 joints long
constexpr std::uint64_t kMostOthers = 4;
constexpr Coord kFirstGap = 60;                  // a part of what is live
constexpr Coord kWider = 3;                      // times the gap after a failure
constexpr std::int64_t kPartOfWork = 4;          // of all work for one height,
constexpr std::int64_t kLooksABlock = 400'000;   // but no more than this at first
constexpr int kMostFailures = 5;                 // of all heights, each time with twice as much for one
constexpr std::int64_t kStuck = 30;              // times the work of gluing all once, without fewer pieces than ever
constexpr std::size_t kMostLeft = 30;            // pieces that are placed one by one where they fit
constexpr Coord kMostRivals = 64;
constexpr std::int64_t kLooksAJoint = 20;
constexpr std::int64_t kLooksAPayment = 10;
constexpr std::chrono::milliseconds kBreath{3};

// The logarithm to the base 2, in 65536ths: exact for powers of two and a straight line between them.
Coord log2_of(std::uint64_t number) {
    const int top = 63 - __builtin_clzll(number | 1);
    const std::uint64_t rest = number ^ (std::uint64_t{1} << top);
    const std::uint64_t part = top >= 16 ? rest >> (top - 16) : rest << (16 - top);
    return (static_cast<Coord>(top) << 16) + static_cast<Coord>(part);
}

struct Candidate {
    Coord key;
    std::uint32_t turn;
    Node first, second;
    Coord noise;
    Joint joint;
    bool operator>(const Candidate& other) const { return std::tie(key, turn) > std::tie(other.key, other.turn); }
};

struct Change {
    Node node;
    bool made;  // or taken apart
};

// What all are aligned to that may begin at the bottom: heights are counted in it. 1, if there is no such number.
Coord common_alignment(const SearchInput& input) {
    for (std::size_t block = 0; block < input.blocks(); ++block) {
        if (input.modulus[block] != input.modulus[0] || input.residue[block] != 0 || input.lowest[block] != 0) return 1;
    }
    return input.blocks() ? input.modulus[0] : 1;
}

class Gluing {
public:
    Gluing(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report)
        : input_(input), options_(options), report_(report), count_(input.blocks()) {
        result_.offsets.assign(options.start.begin(), options.start.end());
        unit_ = common_alignment(input);
        std::vector<Coord> times;
        for (std::size_t r = 0; r < input.rects(); ++r) times.push_back(input.rect_start[r]), times.push_back(input.rect_end[r]);
        std::sort(times.begin(), times.end());
        times.erase(std::unique(times.begin(), times.end()), times.end());
        const auto section = [&](Coord time) { return static_cast<std::int32_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin()); };
        leaves_.resize(count_);
        size_.resize(count_);
        for (std::size_t r = 0; r < input.rects(); ++r) {
            const auto block = static_cast<std::size_t>(input.part_block[static_cast<std::size_t>(input.rect_part[r])]);
            size_[block] = input.part_high[static_cast<std::size_t>(input.rect_part[r])];
            leaves_[block].begin = section(input.rect_start[r]), leaves_[block].end = section(input.rect_end[r]);
            leaves_[block].height = (size_[block] + unit_ - 1) / unit_;
        }
        const std::size_t sections = times.empty() ? 0 : times.size() - 1;
        live_.assign(sections + 1, 0);
        for (const Piece& leaf : leaves_) {
            live_[static_cast<std::size_t>(leaf.begin)] += leaf.height, live_[static_cast<std::size_t>(leaf.end)] -= leaf.height;
        }
        for (std::size_t t = 0; t < sections; ++t) live_[t + 1] += live_[t];
        live_.resize(sections);
        slack_.resize(sections);
        for (const Coord live : live_) least_ = std::max(least_, live);
        result_.peak = peak_of(result_.offsets);
        least_ = std::max(least_, std::min(options.enough, result_.peak) / unit_);
    }

    // Height after height: nearer to what is enough after a success, farther from it after a failure, and with more patience once all have failed.
    Improvement run() {
        if (live_.empty()) return std::move(result_);
        std::int64_t patience = std::min(options_.work / kPartOfWork, kLooksABlock * static_cast<std::int64_t>(count_));
        Coord gap = first_gap();
        int failed = 0;
        bool is_better = true;
        while (result_.peak > options_.enough && !is_over()) {
            if (is_better) {
                // What was cut without waste goes together again without any room to spare, sooner than with little.
                if (glue_all(least_, result_.work + patience)) break;  // nothing is lower
                is_better = false;
            }
            gap = std::min(gap, most_gap() / 2);
            const Coord known = result_.peak;
            is_better = attempt(least_ + gap, result_.work + patience) || result_.peak < known;
            if (is_better) {
                gap /= 2;
                noise_ = kNoises[0];
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
    // How far what is known ends above what could be enough.
    Coord most_gap() const { return (result_.peak + unit_ - 1) / unit_ - least_; }
    Coord first_gap() const { return std::min(least_ / kFirstGap, most_gap() / 2); }

    // Glues everything below a height, anew where it gets stuck. True: into one piece.
    bool attempt(Coord height, std::int64_t until) {
        for (noise_ = 0; !is_over(); noise_ = kNoises[0]) {
            if (glue_all(height, until)) return true;
            if (result_.work >= until) break;
        }
        return false;
    }

    bool glue_all(Coord height, std::int64_t until) {
        const std::int64_t begun = result_.work;
        slack_.fill(height, live_);
        forest_.reset(live_.size(), leaves_);
        whole_ = slack_.total(), waste_ = 0;
        forget();
        for (Node leaf = 0; leaf < static_cast<Node>(count_) && !is_over(); ++leaf) look_around(leaf);
        glue();
        log_.clear();
        const std::int64_t once = result_.work - begun;
        std::int64_t last = result_.work;
        std::size_t fewest = forest_.loose().size();
        Coord energy = energy_now();
        while (forest_.loose().size() > 1 && result_.work < until && result_.work - last < kStuck * once && !is_over()) {
            if (forest_.loose().size() < fewest) fewest = forest_.loose().size(), last = result_.work;
            move();
            const Coord next = energy_now();
            if (!is_over() && next - energy <= leniency()) {
                energy = next;
                for (const Change& change : log_) {
                    if (!change.made) forest_.give_back(change.node);
                }
            } else {
                undo();
            }
            log_.clear();
        }
        if (forest_.loose().size() <= kMostLeft) settle();
        return forest_.loose().size() == 1;
    }

    void forget() { queue_ = {}, turn_ = 0, log_.clear(), fresh_.clear(); }

    Coord energy_now() const {
        return static_cast<Coord>(forest_.loose().size()) * kOne + waste_ / (whole_ / (kWasteWeighs * kOne) + 1);
    }

    // By how much a move may make it worse: at a constant temperature.
    Coord leniency() {
        const Coord bits = (Coord{64} << 16) - log2_of(random_.next());
        return bits * kTemperature >> 16;
    }

    std::uint64_t below(std::uint64_t most) { return (random_.next() >> 32) * most >> 32; }

    // Takes apart what meets at one time, some way down, and glues it together again.
    void move() {
        forget();
        noise_ = kNoises[below(std::size(kNoises))];
        const std::vector<Node>& loose = forest_.loose();
        // Where a loose piece ends, or any block at all: else few places would be left.
        const Node where = below(2) == 0 ? loose[below(loose.size())] : static_cast<Node>(below(count_));
        const std::int32_t time = below(2) == 0 ? forest_[where].begin : forest_[where].end;
        const bool is_loose = forest_[where].loose;
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
            if (forest_[node].loose) look_around(node);
        }
        glue();
    }

    void take_apart(Node node, std::int32_t time) {
        fresh_.push_back(node);
        const std::uint64_t most = std::uint64_t{2} << below(kPathBits);
        for (std::uint64_t steps = 1 + below(most); steps > 0 && forest_[node].joint != Joint::kLeaf; --steps) {
            const Piece piece = forest_[node];
            pay(piece, -1);
            forest_.split(node);
            log_.push_back({node, false});
            fresh_.push_back(piece.first), fresh_.push_back(piece.second);
            const bool in_first = touches(piece.first, time), in_second = touches(piece.second, time);
            const bool goes_first = in_first == in_second ? below(2) == 0 : in_first;
            node = goes_first ? piece.first : piece.second;
        }
    }

    bool touches(Node node, std::int32_t time) const { return forest_[node].begin <= time && time <= forest_[node].end; }

    void undo() {
        for (std::size_t i = log_.size(); i-- > 0;) {
            const Piece piece = forest_[log_[i].node];
            if (log_[i].made) {
                pay(piece, -1), forest_.split(log_[i].node), forest_.give_back(log_[i].node);
            } else {
                forest_.rejoin(log_[i].node), pay(piece, 1);
            }
        }
    }

    // The stretches of the joined piece that neither part fills.
    template <typename Do>
    bool wasted(const Piece& made, const Piece& a, const Piece& b, const Do& take) const {
        if (made.joint == Joint::kStack) {
            return take(made.begin, a.begin, a.height) && take(a.end, made.end, a.height) && take(made.begin, b.begin, b.height) && take(b.end, made.end, b.height);
        }
        return take(a.begin, a.end, made.height - a.height) && take(a.end, b.begin, made.height) && take(b.begin, b.end, made.height - b.height);
    }

    void pay(const Piece& made, int sign) {
        result_.work += kLooksAJoint;
        wasted(made, forest_[made.first], forest_[made.second], [&](std::int32_t begin, std::int32_t end, Coord height) {
            if (begin < end && height > 0) {
                slack_.take(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), sign * height);
                waste_ += sign * slack_.scaled(height) * (end - begin);
                result_.work += kLooksAPayment + 2 * (end - begin);
            }
            return true;
        });
    }

    Piece joined(Node first, Node second, Joint joint) const {
        const Piece &a = forest_[first], &b = forest_[second];
        Piece made;
        made.first = first, made.second = second, made.joint = joint;
        made.begin = std::min(a.begin, b.begin), made.end = std::max(a.end, b.end);
        made.height = joint == Joint::kStack ? a.height + b.height : std::max(a.height, b.height);
        return made;
    }

    // What it costs to join the two, as a logarithm; false: there is not enough room.
    bool key_of(Node first, Node second, Joint joint, Coord& key) {
        const Piece &a = forest_[first], &b = forest_[second];
        Coord cost = kTrifle;
        result_.work += kLooksAJoint;
        const Piece made = joined(first, second, joint);
        if (!wasted(made, a, b, [&](std::int32_t begin, std::int32_t end, Coord height) {
                return begin >= end || height <= 0 || slack_.price(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), height, cost, result_.work);
            })) return false;
        if (cost == kTrifle && joint == Joint::kChain) cost *= rivals(a, b);
        key = log2_of(static_cast<std::uint64_t>(cost));
        return true;
    }

    // How many pairs could be chained there.
    Coord rivals(const Piece& a, const Piece& b) {
        Coord ends = 0, begins = 0;
        for (Node n = forest_.ending_at(a.end); n != kNone && ends < kMostRivals; n = forest_[n].next_end) ++ends;
        for (Node n = forest_.beginning_at(b.begin); n != kNone && begins < kMostRivals; n = forest_[n].next_begin) ++begins;
        result_.work += ends + begins;
        return ends * begins;
    }

    void consider(Node node, Node other) {
        if (node == other) return;
        const Piece &a = forest_[node], &b = forest_[other];
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
        const Piece& piece = forest_[node];
        const auto beginning = [&](std::int32_t time) {
            int n = 0;
            for (Node other = forest_.beginning_at(time); other != kNone && n < kMostAtOnce; other = forest_[other].next_begin, ++n) consider(node, other);
        };
        const auto ending = [&](std::int32_t time) {
            int n = 0;
            for (Node other = forest_.ending_at(time); other != kNone && n < kMostAtOnce; other = forest_[other].next_end, ++n) consider(node, other);
        };
        beginning(piece.begin), ending(piece.end);
        std::int32_t t = piece.begin;
        for (int i = 0; i < kNear && (t = forest_.next_begin(t + 1)) != kNone; ++i) beginning(t);
        t = piece.begin;
        for (int i = 0; i < kNear && (t = forest_.last_begin(t - 1)) != kNone; ++i) beginning(t);
        t = piece.end;
        for (int i = 0; i < kNear && (t = forest_.next_end(t + 1)) != kNone; ++i) ending(t);
        t = piece.end;
        for (int i = 0; i < kNear && (t = forest_.last_end(t - 1)) != kNone; ++i) ending(t);
        t = piece.end - 1;
        for (int i = 0; i < kNear && (t = forest_.next_begin(t + 1)) != kNone; ++i) beginning(t);
        t = piece.begin + 1;
        for (int i = 0; i < kNear && (t = forest_.last_end(t - 1)) != kNone; ++i) ending(t);
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
            if (!forest_[c.first].loose || !forest_[c.second].loose) continue;
            Coord key;
            if (!key_of(c.first, c.second, c.joint, key)) continue;
            key += c.noise;
            if (key > c.key && !queue_.empty() && key > queue_.top().key) {
                c.key = key, c.turn = turn_++;
                queue_.push(c);
                continue;
            }
            const Piece made = joined(c.first, c.second, c.joint);
            pay(made, 1);
            const Node node = forest_.join(made);
            log_.push_back({node, true});
            look_around(node);
        }
    }

    // The plan that the pieces are: the largest stay as they are, with everything let fall; what is left over goes wherever it fits.
    void settle() {
        std::vector<Node> pieces = forest_.loose();
        const auto area = [&](Node node) { return slack_.scaled(forest_[node].height) * (forest_[node].end - forest_[node].begin); };
        const auto largest_first = [&](Node a, Node b) { return std::pair(-area(a), a) < std::pair(-area(b), b); };
        std::sort(pieces.begin(), pieces.end(), largest_first);
        std::vector<Coord> top(live_.size(), 0), bases(count_, 0);
        std::vector<Node> placed, left;
        for (const Node piece : pieces) {
            const auto begin = top.begin() + forest_[piece].begin, end = top.begin() + forest_[piece].end;
            const bool is_alone = *std::max_element(begin, end) == 0;
            for (const auto& [base, leaf] : leaves_of(piece)) {
                if (!is_alone) {
                    left.push_back(leaf);
                    continue;
                }
                const auto first = top.begin() + leaves_[static_cast<std::size_t>(leaf)].begin, last = top.begin() + leaves_[static_cast<std::size_t>(leaf)].end;
                const Coord floor = *std::max_element(first, last);
                if (!put(leaf, floor, bases)) return;
                std::fill(first, last, bases[static_cast<std::size_t>(leaf)] + leaves_[static_cast<std::size_t>(leaf)].height);
                placed.push_back(leaf);
                result_.work += last - first;
            }
        }
        std::sort(left.begin(), left.end(), largest_first);
        for (const Node leaf : left) {
            if (!put(leaf, lowest_gap(leaf, placed, bases), bases)) return;
            placed.push_back(leaf);
        }
        for (Coord& base : bases) base *= unit_;
        const Coord peak = peak_of(bases);
        if (peak >= result_.peak) return;
        result_.offsets = std::move(bases), result_.peak = peak;
        stopped_ = report_(&result_.offsets) || stopped_;
    }

    // At the lowest base from there on that suits the block; false: it has none.
    bool put(Node leaf, Coord floor, std::vector<Coord>& bases) const {
        const auto block = static_cast<std::size_t>(leaf);
        bases[block] = suitable(block, floor);
        return bases[block] <= input_.highest[block] / unit_;
    }

    Coord suitable(std::size_t block, Coord base) const {
        if (unit_ > 1) return base;
        base = std::max(base, input_.lowest[block]);
        const Coord rest = (base - input_.residue[block]) % input_.modulus[block];
        return rest == 0 ? base : base - rest + (rest > 0 ? input_.modulus[block] : 0);
    }

    // The blocks of a piece, by address, and how far above its base they are.
    std::vector<std::pair<Coord, Node>> leaves_of(Node whole) const {
        std::vector<std::pair<Coord, Node>> leaves, open{{0, whole}};
        while (!open.empty()) {
            const auto [base, node] = open.back();
            open.pop_back();
            const Piece& piece = forest_[node];
            if (piece.joint == Joint::kLeaf) {
                leaves.push_back({base, node});
                continue;
            }
            open.push_back({base, piece.first});
            open.push_back({piece.joint == Joint::kStack ? base + forest_[piece.first].height : base, piece.second});
        }
        std::sort(leaves.begin(), leaves.end());
        return leaves;
    }

    Coord lowest_gap(Node node, const std::vector<Node>& placed, const std::vector<Coord>& bases) {
        const Piece& leaf = leaves_[static_cast<std::size_t>(node)];
        std::vector<std::pair<Coord, Coord>> taken;
        for (const Node other : placed) {
            const Piece& there = leaves_[static_cast<std::size_t>(other)];
            const Coord base = bases[static_cast<std::size_t>(other)];
            if (there.begin < leaf.end && leaf.begin < there.end) taken.push_back({base, base + there.height});
        }
        result_.work += static_cast<std::int64_t>(placed.size());
        std::sort(taken.begin(), taken.end());
        Coord floor = 0;
        for (const auto& [base, end] : taken) {
            if (base - suitable(static_cast<std::size_t>(node), floor) >= leaf.height) break;
            floor = std::max(floor, end);
        }
        return floor;
    }

    Coord peak_of(const std::vector<Coord>& offsets) const {
        Coord peak = 0;
        for (std::size_t block = 0; block < count_; ++block) peak = std::max(peak, offsets[block] + size_[block]);
        return peak;
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

    const SearchInput& input_;
    const ImprovementOptions& options_;
    const ImprovementReport& report_;
    const std::size_t count_;
    Coord unit_ = 1, least_ = 0, whole_ = 0, waste_ = 0, noise_ = 0;
    std::vector<Piece> leaves_;
    std::vector<Coord> size_, live_;
    Slack slack_;
    Forest forest_;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
    std::uint32_t turn_ = 0;
    std::vector<Candidate> found_;
    std::vector<Change> log_;
    std::vector<Node> fresh_, touching_;
    Random random_{options_.seed};
    unsigned looks_ = 0;
    bool stopped_ = false;
    std::chrono::steady_clock::time_point last_tick_ = std::chrono::steady_clock::now();
    Improvement result_;
};

}  // namespace

Improvement glue_together(const SearchInput& input, const ImprovementOptions& options, const ImprovementReport& report) {
    return Gluing(input, options, report).run();
}

}  // namespace memplan
