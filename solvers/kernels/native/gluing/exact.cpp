#include "gluing/exact.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "gluing/slack.hpp"

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/gluing.
constexpr Coord kTemperature = 28'000;                    // 0.6 times the natural logarithm of 2
constexpr std::int64_t kLong = 20;   // pieces are taken apart for this multiple of the work of the first gluing,
constexpr std::int64_t kStuck = 8;   // or without a new minimum of pieces for this multiple
constexpr std::size_t kMostSummed = 14;  // of so many pieces all sets are tried,
constexpr std::size_t kMostHeights = 4;  // for so many heights beside them
constexpr std::size_t kFewAlike = 3;     // of fewer pieces that begin and end together, no set is looked for
constexpr std::int64_t kLooksACandidate = 20;
constexpr std::int64_t kLooksAChange = 20;
constexpr std::int64_t kLooksASum = 8;

}  // namespace

void ExactGluing::glue_all(Coord noise, std::int64_t until) {
    const std::int64_t begun = work_;
    forest_.reset(sections_, leaves_);
    forget();
    noise_ = noise;
    for (Node leaf = 0; leaf < static_cast<Node>(leaves_.size()) && !is_over_(); ++leaf) look_around(leaf);
    glue();
    const std::int64_t once = work_ - begun;
    until = std::min(until, work_ + kLong * once);
    std::size_t fewest = forest_.loose().size(), count = fewest;
    std::int64_t last = work_;
    while (forest_.loose().size() > 1 && work_ < until && work_ - last < kStuck * once && !is_over_()) {
        move();
        const Coord more = (static_cast<Coord>(forest_.loose().size()) - static_cast<Coord>(count)) * kOne;
        const Coord bits = (Coord{64} << 16) - log2_of(random_.next());
        if (!is_over_() && more <= (bits * kTemperature >> 16)) {
            for (const Change& change : log_) {
                if (!change.made) forest_.give_back(change.node);
            }
        } else {
            undo();
        }
        count = forest_.loose().size();
        if (count < fewest) fewest = count, last = work_;
    }
}

void ExactGluing::forget() { queue_.clear(), turn_ = 0, log_.clear(), fresh_.clear(); }

// Takes apart pieces that meet at one time, some way down, and glues them again.
void ExactGluing::move() {
    forget();
    noise_ = kNoises[below(std::size(kNoises))];
    const std::vector<Node>& loose = forest_.loose();
    const Node piece = loose[below(loose.size())];
    const Node where = below(2) == 0 ? piece : leaf_of(piece);
    const std::int32_t time = below(2) == 0 ? forest_[where].begin : forest_[where].end;
    const bool is_loose = forest_[where].loose;
    touching_.clear();
    for (const Node other : loose) {
        if (other != where && touches(other, time)) touching_.push_back(other);
    }
    work_ += static_cast<std::int64_t>(loose.size());
    const std::size_t others = std::min<std::size_t>(touching_.size(), 1 + below(kMostOthers));
    for (std::size_t i = 0; i < others; ++i) std::swap(touching_[i], touching_[i + below(touching_.size() - i)]);
    if (is_loose) take_apart(where, time);
    for (std::size_t i = 0; i < others; ++i) take_apart(touching_[i], time);
    for (const Node node : fresh_) {
        if (forest_[node].loose) look_around(node);
    }
    glue();
}

// A leaf of this piece; what was joined last is as likely as all that was joined before.
Node ExactGluing::leaf_of(Node node) {
    while (forest_[node].joint != Joint::kLeaf) node = below(2) == 0 ? forest_[node].first : forest_[node].second;
    return node;
}

void ExactGluing::take_apart(Node node, std::int32_t time) {
    fresh_.push_back(node);
    const std::uint64_t most = std::uint64_t{2} << below(kPathBits);
    for (std::uint64_t steps = 1 + below(most); steps > 0 && forest_[node].joint != Joint::kLeaf; --steps) {
        const Node first = forest_[node].first, second = forest_[node].second;
        forest_.split(node);
        work_ += kLooksAChange;
        log_.push_back({node, false});
        fresh_.push_back(first), fresh_.push_back(second);
        const bool in_first = touches(first, time), in_second = touches(second, time);
        const bool goes_first = in_first == in_second ? below(2) == 0 : in_first;
        node = goes_first ? first : second;
    }
}

void ExactGluing::undo() {
    work_ += kLooksAChange * static_cast<std::int64_t>(log_.size());
    for (std::size_t i = log_.size(); i-- > 0;) {
        const Node node = log_[i].node;
        if (log_[i].made) {
            forest_.split(node), forest_.give_back(node);
        } else {
            forest_.rejoin(node);
        }
    }
}

// The logarithm of how many joints are possible there, less that of the height: equal heights are the less likely by chance the greater they are.
Coord ExactGluing::key_of(Node first, Node second, Joint joint) const {
    if (joint == Joint::kStack) return 0;
    const Coord ends = std::min<Coord>(forest_.count_ending(forest_[first].end), kMostRivals);
    const Coord begins = std::min<Coord>(forest_.count_beginning(forest_[second].begin), kMostRivals);
    return log2_of(static_cast<std::uint64_t>(ends * begins)) - std::min(log2_of(static_cast<std::uint64_t>(forest_[first].height) + 1), kMostSurety);
}

void ExactGluing::consider(Node first, Node second, Joint joint) {
    work_ += kLooksACandidate;
    Coord noise = 0;
    if (noise_ > 0) {
        const Coord up = static_cast<Coord>(below(kOne)), down = static_cast<Coord>(below(kOne));
        noise = (noise_ * (up - down)) >> 16;
    }
    push({key_of(first, second, joint) + noise, turn_++, first, second, noise, joint});
}

void ExactGluing::push(const Candidate& candidate) {
    queue_.push_back(candidate);
    std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

void ExactGluing::look_around(Node node) {
    const std::int32_t begin = forest_[node].begin, end = forest_[node].end;
    const Coord height = forest_[node].height;
    work_ += 2 * forest_.count_beginning(begin) + forest_.count_beginning(end) + forest_.count_ending(begin);
    for (Node other = forest_.beginning_at(end); other != kNoNode; other = forest_[other].next_begin) {
        if (forest_[other].height == height) consider(node, other, Joint::kChain);
    }
    for (Node other = forest_.ending_at(begin); other != kNoNode; other = forest_[other].next_end) {
        if (forest_[other].height == height) consider(other, node, Joint::kChain);
    }
    for (Node other = forest_.beginning_at(begin); other != kNoNode; other = forest_[other].next_begin) {
        if (other != node && forest_[other].end == end) consider(std::min(node, other), std::max(node, other), Joint::kStack);
    }
}

Node ExactGluing::join(Node first, Node second, Joint joint) {
    Piece made;
    made.first = first, made.second = second, made.joint = joint;
    made.begin = forest_[first].begin, made.end = forest_[second].end;
    made.height = forest_[first].height + (joint == Joint::kStack ? forest_[second].height : 0);
    const Node node = forest_.join(made);
    work_ += kLooksAChange;
    log_.push_back({node, true});
    return node;
}

void ExactGluing::glue() {
    while (!queue_.empty() && !is_over_()) {
        std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
        Candidate candidate = queue_.back();
        queue_.pop_back();
        const auto& [known, turn, first, second, noise, joint] = candidate;
        work_ += kLooksASum;
        if (!forest_[first].loose || !forest_[second].loose) continue;
        const Coord key = key_of(first, second, joint) + noise;
        if (key > known && !queue_.empty() && key > queue_.front().key) {
            candidate.key = key, candidate.turn = turn_++;
            push(candidate);
        } else if (joint == Joint::kStack && noise_ > 0 && chain_some(first)) {
            push(candidate);
        } else {
            look_around(join(first, second, joint));
        }
    }
}

// Of the pieces that begin and end with this one, stacks some that are together as high as a piece before or after them, and chains them with it. First
// come the heights of which there is a piece on both sides, the highest before all. False if none is found.
bool ExactGluing::chain_some(Node one) {
    const std::int32_t begin = forest_[one].begin, end = forest_[one].end;
    alike_.clear();
    Coord total = 0;
    for (Node node = forest_.beginning_at(begin); node != kNoNode; node = forest_[node].next_begin) {
        if (forest_[node].end == end) alike_.push_back(node), total += forest_[node].height;
    }
    work_ += 2 * forest_.count_beginning(begin) + forest_.count_ending(begin) + forest_.count_beginning(end);
    if (alike_.size() < kFewAlike) return false;
    std::vector<Coord> before;
    std::vector<std::tuple<bool, Coord, Node>> beside;  // on one side only?, rank, piece
    for (Node node = forest_.ending_at(begin); node != kNoNode; node = forest_[node].next_end) {
        if (forest_[node].height >= total) continue;
        before.push_back(forest_[node].height);
        beside.push_back({true, static_cast<Coord>(below(kOne)), node});
    }
    std::sort(before.begin(), before.end());
    for (Node node = forest_.beginning_at(end); node != kNoNode; node = forest_[node].next_begin) {
        const Coord height = forest_[node].height;
        if (height >= total) continue;
        const bool both = std::binary_search(before.begin(), before.end(), height);
        beside.push_back({!both, both ? -height : static_cast<Coord>(below(kOne)), node});
    }
    std::sort(beside.begin(), beside.end());
    if (beside.size() > kMostHeights) beside.resize(kMostHeights);
    for (const auto& [one_sided, rank, node] : beside) {
        if (!add_up_to(forest_[node].height, alike_)) continue;
        Node stack = chosen_[0];
        for (std::size_t i = 1; i < chosen_.size(); ++i) stack = join(stack, chosen_[i], Joint::kStack);
        look_around(forest_[node].end == begin ? join(node, stack, Joint::kChain) : join(stack, node, Joint::kChain));
        return true;
    }
    return false;
}

// Chooses pieces at random whose heights add up to this one, and returns whether there are any: all sets of some of them are tried, in two halves.
bool ExactGluing::add_up_to(Coord height, const std::vector<Node>& pieces) {
    std::vector<Node> row = pieces;
    const std::size_t count = std::min(row.size(), kMostSummed), half = count / 2;
    for (std::size_t i = 0; i < count; ++i) std::swap(row[i], row[i + below(row.size() - i)]);
    const auto sums = [&](std::size_t first, std::size_t last, std::vector<Sum>& into) {
        into.assign(1, {0, 0});
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t k = 0, known = into.size(); k < known; ++k) into.push_back({into[k].first + forest_[row[i]].height, into[k].second | (1U << i)});
        }
        std::sort(into.begin(), into.end());
        work_ += kLooksASum * static_cast<std::int64_t>(into.size());
    };
    sums(0, half, sums_), sums(half, count, others_);
    for (std::size_t a = 0, b = others_.size(); a < sums_.size() && b > 0;) {
        const Coord sum = sums_[a].first + others_[b - 1].first;
        if (sum < height) {
            ++a;
        } else if (sum > height) {
            --b;
        } else {
            const std::uint32_t bits = sums_[a].second | others_[b - 1].second;
            chosen_.clear();
            for (std::size_t i = 0; i < count; ++i) {
                if ((bits >> i & 1) != 0) chosen_.push_back(row[i]);
            }
            return true;
        }
    }
    return false;
}

}  // namespace memplan
