// Joins pieces, takes them apart where they meet at one time, and joins them again. Which joints there are, and which come first, its heirs say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "gluing/assembly.hpp"
#include "gluing/course.hpp"
#include "gluing/wheels.hpp"

namespace memplan {

// The same numbers stand in solvers/kernels/python/gluing.
inline constexpr Coord kNoises[] = {69'400, 231'300, 693'900};  // log2 of cost factors: triangular, with these half widths (factors e^y, deviations of y 0.3, 1, 3)
inline constexpr Coord kMostRivals = 64;
inline constexpr Coord kMostSurety = 20 * kOne;     // most by which a chain of equal heights is cheaper, as a logarithm
inline constexpr std::uint64_t kPathBits = 9;       // paths that are taken apart are up to 2^1 .. 2^9 joints long,
inline constexpr std::uint64_t kMostOthers = 4;     // in so many pieces beside the first
inline constexpr Coord kWasteWeighs = 4;            // weight of wasting all slack, in pieces
inline constexpr std::size_t kFewWheels = 100;      // wheels are looked for while there is at least one to so many blocks

class Gluer {
protected:
    struct Candidate {
        Coord key;
        std::uint32_t turn;
        Parts parts;
        Coord noise;
        bool operator>(const Candidate& other) const { return std::tie(key, turn) > std::tie(other.key, other.turn); }
    };

    // Moves may increase the pieces at this temperature. Each candidate that is looked at again takes so many looks.
    Gluer(const LeafBlocks& blocks, Course& course, Coord temperature, std::int64_t looks)
        : blocks_(blocks), glued_(blocks), course_(course), temperature_(temperature), looks_(looks) {}
    ~Gluer() = default;

    // The logarithm of the joint's cost; none if it is impossible.
    virtual std::optional<Coord> key_of(const Piece& made) = 0;
    // Considers the joints of a new piece.
    virtual void look_around(Node node) = 0;
    // A piece, loose or not, at one of whose ends others are taken apart.
    virtual Node place() = 0;
    // Makes other joints that should come before this one; false if there are none.
    virtual bool joins_others(const Piece&) { return false; }

    // Begins with loose blocks and glues them below a height, from the cheapest joint on.
    void glue_once(Coord height) {
        const std::int64_t begun = course_.work;
        glued_.reset(height);
        forget();
        for (Node leaf = 0; leaf < static_cast<Node>(blocks_.count()) && !course_.is_over(); ++leaf) look_around(leaf);
        glue();
        const std::vector<Node> nodes = glued_.with_parts(glued_.forest().loose());
        const auto wheels = std::count_if(nodes.begin(), nodes.end(), [this](Node node) { return glued_.forest()[node].joint == Joint::kWheel; });
        has_wheels_ = has_wheels_ && static_cast<std::size_t>(wheels) * kFewWheels > blocks_.count();
        course_.work += static_cast<std::int64_t>(nodes.size());
        once_ = course_.work - begun;
    }

    // The wheels of which this loose piece is part; none if hardly any were made so far: where blocks were cut straight, they are chance.
    const std::vector<Parts>& wheels_with(Node node) {
        static const std::vector<Parts> none;
        return has_wheels_ ? wheels_.with(glued_.forest(), node, course_.work) : none;
    }

    // Takes apart and glues again until one piece is left, or this much work brings no new minimum of pieces.
    void improve(std::int64_t until, std::int64_t patience) {
        std::int64_t last = course_.work;
        std::size_t fewest = glued_.loose();
        Coord energy = energy_now();
        while (glued_.loose() > 1 && course_.work < until && course_.work - last < patience && !course_.is_over()) {
            if (glued_.loose() < fewest) fewest = glued_.loose(), last = course_.work;
            move();
            const Coord next = energy_now();
            if (!course_.is_over() && next - energy <= leniency()) {
                energy = next;
                for (const Change& change : log_) {
                    if (!change.made) glued_.give_back(change.node);
                }
            } else {
                glued_.undo(log_, course_.work);
            }
        }
    }

    // The loose pieces that are suitable.
    template <typename Suits>
    std::vector<Node>& loose_where(const Suits& suits) {
        some_.clear();
        for (const Node node : glued_.forest().loose()) {
            if (suits(node)) some_.push_back(node);
        }
        course_.work += static_cast<std::int64_t>(glued_.loose());
        return some_;
    }

    void forget() { queue_.clear(), turn_ = 0, log_.clear(), fresh_.clear(); }

    // Makes joints from the cheapest on.
    void glue() {
        while (!queue_.empty() && !course_.is_over()) {
            std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
            Candidate c = queue_.back();
            queue_.pop_back();
            course_.work += looks_;
            if (std::any_of(c.parts.begin(), c.parts.end(), [&](Node part) { return part != kNoNode && !glued_.forest()[part].loose; })) continue;
            const Piece made = glued_.joined(c.parts);
            const std::optional<Coord> key = key_of(made);
            if (!key) continue;
            if (*key + c.noise > c.key && !queue_.empty() && *key + c.noise > queue_.front().key) {
                c.key = *key + c.noise;
                push_anew(c);
            } else if (joins_others(made)) {
                push(c);
            } else {
                look_around(join(made));
            }
        }
    }

    Node join(const Piece& made) {
        const Node node = glued_.join(made, course_.work);
        log_.push_back({node, true});
        return node;
    }

    void push_anew(Candidate candidate) {
        candidate.turn = turn_++;
        push(candidate);
    }

    Coord some_noise() {
        if (noise_ == 0) return 0;
        const Coord up = static_cast<Coord>(course_.below(kOne)), down = static_cast<Coord>(course_.below(kOne));
        return (noise_ * (up - down)) >> 16;
    }

    // How many pieces end where the first of these does, and begin where the second does.
    std::pair<Coord, Coord> rivals(const Piece& made) const {
        const Forest& forest = glued_.forest();
        const Coord ends = forest.count_ending(forest[made.parts[0]].end), begins = forest.count_beginning(forest[made.parts[1]].begin);
        return {std::min(ends, kMostRivals), std::min(begins, kMostRivals)};
    }

    // The logarithm of how many pairs could be chained there, less that of the height: equal heights are the less likely by chance the greater they
    // are, and where there are many pairs a joint can wait. In a wheel two heights are equal to those of two pieces.
    Coord chance(const Piece& made) const {
        const auto surety = [&](Node node) { return std::min(log2_of(static_cast<std::uint64_t>(glued_.forest()[node].height) + 1), kMostSurety); };
        const auto [ends, begins] = rivals(made);
        const Coord pairs = log2_of(static_cast<std::uint64_t>(ends * begins)) - surety(made.parts[1]);
        return made.joint == Joint::kWheel ? pairs - surety(made.parts[2]) : pairs;
    }

    const LeafBlocks& blocks_;
    Assembly glued_;
    Course& course_;
    Coord noise_ = 0;
    bool has_wheels_ = true;
    std::int64_t once_ = 0;  // the work of the first gluing

private:
    void push(const Candidate& candidate) {
        queue_.push_back(candidate);
        std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
    }

    Coord energy_now() const {
        return static_cast<Coord>(glued_.loose()) * kOne + glued_.waste() / (glued_.room() / (kWasteWeighs * kOne) + 1);
    }

    // The increase of energy that a move is allowed.
    Coord leniency() {
        const Coord bits = (Coord{64} << 16) - log2_of(course_.random.next());
        return bits * temperature_ >> 16;
    }

    // Takes apart pieces that meet at one time, some way down, and glues them again.
    void move() {
        forget();
        noise_ = kNoises[course_.below(std::size(kNoises))];
        const Node where = place();
        const std::int32_t time = course_.below(2) == 0 ? glued_.forest()[where].begin : glued_.forest()[where].end;
        const bool is_loose = glued_.forest()[where].loose;
        std::vector<Node>& touching = loose_where([&](Node other) { return other != where && touches(other, time); });
        const std::size_t others = std::min<std::size_t>(touching.size(), 1 + course_.below(kMostOthers));
        for (std::size_t i = 0; i < others; ++i) std::swap(touching[i], touching[i + course_.below(touching.size() - i)]);
        if (is_loose) take_apart(where, time);
        for (std::size_t i = 0; i < others; ++i) take_apart(touching[i], time);
        for (const Node node : fresh_) {
            if (glued_.forest()[node].loose) look_around(node);
        }
        glue();
    }

    void take_apart(Node node, std::int32_t time) {
        fresh_.push_back(node);
        const std::uint64_t most = std::uint64_t{2} << course_.below(kPathBits);
        for (std::uint64_t steps = 1 + course_.below(most); steps > 0 && glued_.forest()[node].joint != Joint::kLeaf; --steps) {
            glued_.split(node, course_.work);
            log_.push_back({node, false});
            const std::span<const Node> parts = glued_.forest()[node].made_of();
            fresh_.insert(fresh_.end(), parts.begin(), parts.end());
            there_.clear();
            std::copy_if(parts.begin(), parts.end(), std::back_inserter(there_), [&](Node part) { return touches(part, time); });
            if (there_.empty()) there_.assign(parts.begin(), parts.end());
            node = there_.size() == 1 ? there_[0] : there_[course_.below(there_.size())];
        }
    }

    bool touches(Node node, std::int32_t time) const { return glued_.forest()[node].begin <= time && time <= glued_.forest()[node].end; }

    const Coord temperature_;
    const std::int64_t looks_;
    Wheels wheels_;
    std::vector<Candidate> queue_;  // a heap
    std::uint32_t turn_ = 0;
    std::vector<Change> log_;
    std::vector<Node> fresh_, some_, there_;
};

}  // namespace memplan
