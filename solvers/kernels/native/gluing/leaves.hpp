// The blocks as leaves of the forest, their heights in a common unit; and the way back, from pieces to a placement of their blocks.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "gluing/forest.hpp"
#include "gluing/slack.hpp"
#include "shared/input.hpp"

namespace memplan {

// A random number below another.
using Below = std::function<std::uint64_t(std::uint64_t)>;

class LeafBlocks {
public:
    explicit LeafBlocks(const SearchInput& input);

    std::size_t count() const { return input_.blocks(); }
    // What all are aligned to that may begin at the bottom: heights are counted in it. 1, if there is no such number.
    Coord unit() const { return unit_; }
    // A node each: block i is node i.
    const std::vector<Piece>& pieces() const { return pieces_; }
    // How much is live in every section.
    const std::vector<Coord>& live() const { return live_; }
    Coord peak_of(const std::vector<Coord>& offsets) const;

    // The placement that the loose pieces are, each as a box that lies as low as it can, in the best order that was found; then everything falls.
    // None: a block has no base that suits it.
    std::optional<std::vector<Coord>> settle(const Forest& forest, const Slack& slack, const Below& below, std::int64_t& work) const;

private:
    bool put(Node leaf, Coord floor, std::vector<Coord>& bases) const;
    Coord suitable(std::size_t block, Coord base) const;
    const Piece& piece(Node leaf) const { return pieces_[static_cast<std::size_t>(leaf)]; }

    const SearchInput& input_;
    Coord unit_ = 1;
    std::vector<Piece> pieces_;
    std::vector<Coord> size_, live_;
};

}  // namespace memplan
