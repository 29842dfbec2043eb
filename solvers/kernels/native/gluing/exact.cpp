#include "gluing/exact.hpp"

#include <algorithm>
#include <tuple>

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/gluing.
constexpr Coord kTemperature = 28'000;                    // 0.6 times the natural logarithm of 2
constexpr std::size_t kMostRenewed = 500;  // blocks that are glued anew;
constexpr std::int64_t kLong = 20;         // their pieces are taken apart for this multiple of the work of gluing them once,
constexpr std::int64_t kStuck = 8;         // or without a new minimum of pieces for this multiple
constexpr std::size_t kMostSummed = 14;  // of so many pieces all sets are tried,
constexpr std::size_t kMostHeights = 4;  // for so many heights beside them
constexpr std::size_t kFewAlike = 3;     // of fewer pieces that begin and end together, no set is looked for
constexpr std::int64_t kLooksACandidate = 20;
constexpr std::int64_t kLooksASum = 8;

}  // namespace

ExactGluing::ExactGluing(const LeafBlocks& blocks, Course& course, Coord height)
    : Gluer(blocks, course, kTemperature, kLooksASum), height_(height) {}

// The window is that of two loose pieces that touch one time, or of one.
bool ExactGluing::renew(std::int64_t until) {
    const Forest& forest = glued_.forest();
    const std::size_t known = glued_.loose();
    const Piece& one = forest[forest.loose()[course_.below(known)]];
    const std::vector<Node>& near = loose_where([&](Node node) { return forest[node].begin <= one.end && one.begin <= forest[node].end; });
    const Piece& other = forest[near[course_.below(near.size())]];
    from_ = std::min(one.begin, other.begin), to_ = std::max(one.end, other.end);
    const std::vector<Node> nodes = glued_.with_parts(loose_where([this](Node node) { return is_inside(node); }));
    course_.work += kLooksAPayment * static_cast<std::int64_t>(nodes.size());
    // One node in two is a block.
    if (nodes.size() > 2 * kMostRenewed) return false;
    const Assembly kept = glued_;
    course_.work += static_cast<std::int64_t>(forest.nodes());
    forget();
    const std::int64_t begun = course_.work;
    for (const Node node : nodes) {
        if (forest[node].joint != Joint::kLeaf) glued_.split(node, course_.work), glued_.give_back(node);
    }
    noise_ = kNoises[0];
    for (const Node node : nodes) {
        if (forest[node].loose) look_around(node);
    }
    glue();
    const std::int64_t once = course_.work - begun;
    improve(std::min(until, course_.work + kLong * once), kStuck * once);
    if (glued_.loose() > known || course_.is_over()) glued_ = kept;
    return glued_.loose() < known;
}

// A loose piece in the window, or a block in one; what was joined last is as likely as all that was joined before.
Node ExactGluing::place() {
    const Forest& forest = glued_.forest();
    const std::vector<Node>& inside = loose_where([this](Node node) { return is_inside(node); });
    const std::vector<Node>& among = inside.empty() ? forest.loose() : inside;  // all may be part of what begins or ends outside
    Node node = among[course_.below(among.size())];
    if (course_.below(2) == 0) return node;
    while (forest[node].joint != Joint::kLeaf) node = forest[node].parts[course_.below(forest[node].made_of().size())];
    return node;
}

std::optional<Coord> ExactGluing::key_of(const Piece& made) { return made.joint == Joint::kStack ? 0 : chance(made); }

void ExactGluing::consider(const Piece& made) {
    course_.work += kLooksACandidate;
    const Coord noise = some_noise();
    push_anew({*key_of(made) + noise, 0, made.parts, noise});
}

void ExactGluing::look_around(Node node) {
    const Forest& forest = glued_.forest();
    const std::int32_t begin = forest[node].begin, end = forest[node].end;
    const Coord height = forest[node].height;
    course_.work += 2 * forest.count_beginning(begin) + forest.count_beginning(end) + forest.count_ending(begin);
    for (Node other = forest.beginning_at(end); other != kNoNode; other = forest[other].next_begin) {
        if (forest[other].height == height) consider(glued_.joined(node, other));
    }
    for (Node other = forest.ending_at(begin); other != kNoNode; other = forest[other].next_end) {
        if (forest[other].height == height) consider(glued_.joined(other, node));
    }
    for (Node other = forest.beginning_at(begin); other != kNoNode; other = forest[other].next_begin) {
        if (other != node && forest[other].end == end) consider(glued_.joined(std::min(node, other), std::max(node, other)));
    }
    for (const Parts& parts : wheels_with(node)) {
        const Piece made = glued_.joined(parts);
        if (glued_.wasted(made, [](std::int32_t, std::int32_t, Coord) { return false; })) consider(made);
    }
}

// Looks for a better use of the pieces before two of them are stacked.
bool ExactGluing::joins_others(const Piece& made) { return made.joint == Joint::kStack && noise_ > 0 && chain_some(made.begin, made.end); }

// Of the pieces with this begin and end, stacks some that are together as high as a piece before or after them, and chains them with it. First
// come the heights of which there is a piece on both sides, the highest before all. False if none is found.
bool ExactGluing::chain_some(std::int32_t begin, std::int32_t end) {
    const Forest& forest = glued_.forest();
    alike_.clear();
    Coord total = 0;
    for (Node node = forest.beginning_at(begin); node != kNoNode; node = forest[node].next_begin) {
        if (forest[node].end == end) alike_.push_back(node), total += forest[node].height;
    }
    course_.work += 2 * forest.count_beginning(begin) + forest.count_ending(begin) + forest.count_beginning(end);
    if (alike_.size() < kFewAlike) return false;
    std::vector<Coord> before;
    std::vector<std::tuple<bool, Coord, Node>> beside;  // on one side only?, rank, piece
    for (Node node = forest.ending_at(begin); node != kNoNode; node = forest[node].next_end) {
        if (forest[node].height >= total) continue;
        before.push_back(forest[node].height);
        beside.push_back({true, static_cast<Coord>(course_.below(kOne)), node});
    }
    std::sort(before.begin(), before.end());
    for (Node node = forest.beginning_at(end); node != kNoNode; node = forest[node].next_begin) {
        const Coord height = forest[node].height;
        if (height >= total) continue;
        const bool both = std::binary_search(before.begin(), before.end(), height);
        beside.push_back({!both, both ? -height : static_cast<Coord>(course_.below(kOne)), node});
    }
    std::sort(beside.begin(), beside.end());
    if (beside.size() > kMostHeights) beside.resize(kMostHeights);
    for (const auto& [one_sided, rank, node] : beside) {
        if (!add_up_to(forest[node].height, alike_)) continue;
        Node stack = chosen_[0];
        for (std::size_t i = 1; i < chosen_.size(); ++i) stack = join(glued_.joined(stack, chosen_[i]));
        look_around(join(forest[node].end == begin ? glued_.joined(node, stack) : glued_.joined(stack, node)));
        return true;
    }
    return false;
}

// Chooses pieces at random whose heights add up to this one, and returns whether there are any: all sets of some of them are tried, in two halves.
bool ExactGluing::add_up_to(Coord height, const std::vector<Node>& pieces) {
    const Forest& forest = glued_.forest();
    std::vector<Node> row = pieces;
    const std::size_t count = std::min(row.size(), kMostSummed), half = count / 2;
    for (std::size_t i = 0; i < count; ++i) std::swap(row[i], row[i + course_.below(row.size() - i)]);
    const auto sums = [&](std::size_t first, std::size_t last, std::vector<Sum>& into) {
        into.assign(1, {0, 0});
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t k = 0, known = into.size(); k < known; ++k) into.push_back({into[k].first + forest[row[i]].height, into[k].second | (1U << i)});
        }
        std::sort(into.begin(), into.end());
        course_.work += kLooksASum * static_cast<std::int64_t>(into.size());
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
