// Gluing where blocks leave no room unused: only joints that waste nothing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gluing/gluer.hpp"

namespace memplan {

// Joins pieces of equal height that follow each other, wheels, and pieces that begin and end together: as many of them as are as high as a piece beside
// them, since there are many such sets of short-lived pieces, and any will do.
class ExactGluing final : Gluer {
public:
    // All sections are filled up to this height.
    ExactGluing(const LeafBlocks& blocks, Course& course, Coord height);

    const Assembly& glued() const { return glued_; }
    std::int64_t once() const { return once_; }
    bool has_wheels() const { return has_wheels_; }

    // Begins with loose blocks and glues them, from the surest joint on.
    void glue_all() { glue_once(height_); }
    // Takes apart all that lies in a window of time, and glues it anew. True if that leaves fewer pieces; if it leaves more, it is undone.
    bool renew(std::int64_t until);

private:
    using Sum = std::pair<Coord, std::uint32_t>;  // a sum of heights, and a bit for each piece in it

    std::optional<Coord> key_of(const Piece& made) override;
    void look_around(Node node) override;
    Node place() override;
    bool joins_others(const Piece& made) override;
    void consider(const Piece& made);
    bool chain_some(std::int32_t begin, std::int32_t end);
    bool add_up_to(Coord height, const std::vector<Node>& pieces);

    bool is_inside(Node node) const { return from_ <= glued_.forest()[node].begin && glued_.forest()[node].end <= to_; }

    const Coord height_;
    std::int32_t from_ = 0, to_ = 0;  // the window
    std::vector<Node> alike_, chosen_;
    std::vector<Sum> sums_, others_;
};

}  // namespace memplan
