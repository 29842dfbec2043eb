// The blocks as leaves of the forest, with heights in a common unit, and the placement that a forest stands for.
#pragma once

#include <optional>
#include <vector>

#include "gluing/course.hpp"
#include "gluing/forest.hpp"
#include "gluing/slack.hpp"
#include "shared/input.hpp"

namespace memplan {

class LeafBlocks {
public:
    explicit LeafBlocks(const SearchInput& input);

    std::size_t count() const { return input_.blocks(); }
    // Heights are counted in this unit: the common alignment if all blocks share it and can lie at the bottom, else 1.
    Coord unit() const { return unit_; }
    // One node per block: block i is node i.
    const std::vector<Piece>& pieces() const { return pieces_; }
    // The sum of live heights in each section.
    const std::vector<Coord>& live() const { return live_; }
    Coord peak_of(const std::vector<Coord>& offsets) const;

    // The placement of the blocks if these pieces have these bases, and then all blocks fall, if they do. None if a block has no suitable base.
    std::optional<std::vector<Coord>> settle(const Forest& forest, const std::vector<Node>& boxes, const std::vector<Coord>& bases, bool falls,
                                             std::int64_t& work) const;

    // The number of the piece that each block and each piece is part of, -1 if it is loose. Pieces of several blocks are numbered after the blocks.
    std::vector<Coord> parents(const Forest& forest, const std::vector<Node>& boxes) const;

private:
    bool put(Node leaf, Coord floor, std::vector<Coord>& bases) const;
    Coord suitable(std::size_t block, Coord base) const;
    const Piece& piece(Node leaf) const { return pieces_[static_cast<std::size_t>(leaf)]; }

    const SearchInput& input_;
    Coord unit_ = 1;
    std::vector<Piece> pieces_;
    std::vector<Coord> size_, live_;
};

// The bases of the pieces, given from the largest to the smallest. Each is put as low as it fits; then two are exchanged, repeatedly, if that makes the
// whole no higher.
std::vector<Coord> piled(const Forest& forest, const std::vector<Node>& boxes, Course& course);

// The loose pieces from the largest to the smallest.
std::vector<Node> by_area(const Forest& forest, const Slack& slack);

}  // namespace memplan
