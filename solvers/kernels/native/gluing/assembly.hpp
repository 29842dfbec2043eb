// What is glued so far below a height: the pieces, and the room that their joints waste.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "gluing/forest.hpp"
#include "gluing/leaves.hpp"
#include "gluing/slack.hpp"

namespace memplan {

// The same numbers stand in solvers/kernels/python/gluing.
inline constexpr std::int64_t kLooksAJoint = 20;
inline constexpr std::int64_t kLooksAPayment = 10;

struct Change {
    Node node;
    bool made;  // made or taken apart
};

class Assembly {
public:
    explicit Assembly(const LeafBlocks& blocks) : blocks_(&blocks) { slack_.resize(blocks.live().size()); }

    const Forest& forest() const { return forest_; }
    const Slack& slack() const { return slack_; }
    std::size_t loose() const { return forest_.loose().size(); }
    Coord height() const { return height_; }
    // The room in all sections while nothing is wasted, and what is wasted of it, scaled.
    Coord room() const { return room_; }
    Coord waste() const { return waste_; }

    // Begins with loose blocks.
    void reset(Coord height) {
        height_ = height;
        slack_.fill(height, blocks_->live());
        forest_.reset(blocks_->live().size(), blocks_->pieces());
        room_ = slack_.total(), waste_ = 0;
    }

    // One on top of the other, or after it if it begins no sooner than that ends.
    Piece joined(Node first, Node second) const {
        const Piece &a = forest_[first], &b = forest_[second];
        Piece made;
        made.parts = two(first, second), made.joint = a.end <= b.begin ? Joint::kChain : Joint::kStack;
        made.begin = std::min(a.begin, b.begin), made.end = std::max(a.end, b.end);
        made.height = made.joint == Joint::kStack ? a.height + b.height : std::max(a.height, b.height);
        return made;
    }

    // The same, or a wheel.
    Piece joined(const Parts& parts) const {
        if (parts.back() == kNoNode) return joined(parts[0], parts[1]);
        Piece made;
        made.parts = parts, made.joint = Joint::kWheel;
        made.begin = forest_[parts[0]].begin, made.end = forest_[parts[1]].end;
        made.height = std::max({high(made, {0, 2}), high(made, {0, 4, 3}), high(made, {1, 3})});
        return made;
    }

    // Calls `look` with begin, end and height of each rectangle of the joined piece that none of its pieces fills, until one returns false.
    template <typename Look>
    bool wasted(const Piece& made, const Look& look) const {
        const auto at = [&](std::int32_t begin, std::int32_t end, Coord height) { return begin >= end || height <= 0 || look(begin, end, height); };
        if (made.joint == Joint::kWheel) {
            const Piece& middle = forest_[made.parts[4]];
            return at(made.begin, middle.begin, made.height - high(made, {0, 2})) && at(middle.begin, middle.end, made.height - high(made, {0, 4, 3})) &&
                   at(middle.end, made.end, made.height - high(made, {1, 3}));
        }
        const Piece &a = forest_[made.parts[0]], &b = forest_[made.parts[1]];
        if (made.joint == Joint::kStack) {
            return at(made.begin, a.begin, a.height) && at(a.end, made.end, a.height) && at(made.begin, b.begin, b.height) && at(b.end, made.end, b.height);
        }
        return at(a.begin, a.end, made.height - a.height) && at(a.end, b.begin, made.height) && at(b.begin, b.end, made.height - b.height);
    }

    Node join(const Piece& made, std::int64_t& work) {
        pay(made, 1, work);
        return forest_.join(made);
    }

    // Takes a piece apart. Its node keeps its data until it is given back.
    void split(Node node, std::int64_t& work) {
        pay(forest_[node], -1, work);
        forest_.split(node);
    }

    void give_back(Node node) { forest_.give_back(node); }

    void undo(const std::vector<Change>& changes, std::int64_t& work) {
        for (std::size_t i = changes.size(); i-- > 0;) {
            const Node node = changes[i].node;
            if (changes[i].made) {
                split(node, work), give_back(node);
            } else {
                forest_.rejoin(node), pay(forest_[node], 1, work);
            }
        }
    }

    // These pieces and all that they are made of, each after what it is part of.
    std::vector<Node> with_parts(std::vector<Node> nodes) const {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            for (const Node part : forest_[nodes[i]].made_of()) nodes.push_back(part);
        }
        return nodes;
    }

    // Takes apart what cannot be kept below this lower height: each joint that wastes room where it is short, and all joints above it.
    void lower(Coord height, std::int64_t& work) {
        slack_.shift_by(height - height_), height_ = height;
        room_ = slack_.room(height, blocks_->live());
        const std::vector<Node> nodes = with_parts(forest_.loose());
        work += kLooksAPayment * static_cast<std::int64_t>(nodes.size());
        std::vector<bool> goes(forest_.nodes(), false);
        for (std::size_t i = nodes.size(); i-- > 0;) {
            const Piece& piece = forest_[nodes[i]];
            if (piece.joint == Joint::kLeaf) continue;
            const std::span<const Node> parts = piece.made_of();
            goes[static_cast<std::size_t>(nodes[i])] =
                std::any_of(parts.begin(), parts.end(), [&](Node part) { return goes[static_cast<std::size_t>(part)]; }) ||
                !wasted(piece, [&](std::int32_t begin, std::int32_t end, Coord) { return !slack_.lacks(static_cast<std::size_t>(begin), static_cast<std::size_t>(end)); });
        }
        for (const Node node : nodes) {
            if (goes[static_cast<std::size_t>(node)]) split(node, work), give_back(node);
        }
    }

private:
    // The height of these parts on top of each other.
    Coord high(const Piece& made, std::initializer_list<std::size_t> parts) const {
        Coord sum = 0;
        for (const std::size_t part : parts) sum += forest_[made.parts[part]].height;
        return sum;
    }

    void pay(const Piece& made, int sign, std::int64_t& work) {
        work += kLooksAJoint;
        wasted(made, [&](std::int32_t begin, std::int32_t end, Coord height) {
            slack_.take(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), sign * height);
            waste_ += sign * slack_.scaled(height) * (end - begin);
            work += kLooksAPayment + 2 * (end - begin);
            return true;
        });
    }

    const LeafBlocks* blocks_;
    Coord height_ = 0, room_ = 0, waste_ = 0;
    Slack slack_;
    Forest forest_;
};

}  // namespace memplan
