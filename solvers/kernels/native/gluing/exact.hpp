// Gluing where blocks leave no room unused: only joints that waste nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "gluing/assembly.hpp"
#include "gluing/forest.hpp"
#include "shared/random.hpp"

namespace memplan {

// Joins pieces of equal height that follow each other, and pieces that begin and end together: as many of them as are as high as a piece beside them,
// since there are many such sets of short-lived pieces, and any will do.
class ExactGluing {
public:
    // `work` grows by the looks that are taken; `is_over` is asked whether to stop.
    ExactGluing(std::size_t sections, std::vector<Piece> leaves, Random& random, std::int64_t& work, std::function<bool()> is_over)
        : sections_(sections), leaves_(std::move(leaves)), random_(random), work_(work), is_over_(std::move(is_over)) {}

    const Forest& forest() const { return forest_; }

    // Begins with loose blocks and glues them, from the surest joint on; then takes apart and glues again, until one piece is left or no fewer are reached.
    void glue_all(Coord noise, std::int64_t until);

private:
    struct Candidate {
        Coord key;
        std::uint32_t turn;
        Node first, second;
        Coord noise;
        Joint joint;
        bool operator>(const Candidate& other) const { return key != other.key ? key > other.key : turn > other.turn; }
    };
    using Sum = std::pair<Coord, std::uint32_t>;  // a sum of heights, and a bit for each piece in it

    std::uint64_t below(std::uint64_t most) { return (random_.next() >> 32) * most >> 32; }
    void forget();
    void glue();
    void move();
    void undo();
    void take_apart(Node node, std::int32_t time);
    Node leaf_of(Node node);
    bool touches(Node node, std::int32_t time) const { return forest_[node].begin <= time && time <= forest_[node].end; }
    Coord key_of(Node first, Node second, Joint joint) const;
    void consider(Node first, Node second, Joint joint);
    void push(const Candidate& candidate);
    void look_around(Node node);
    Node join(Node first, Node second, Joint joint);
    bool chain_some(Node one);
    bool add_up_to(Coord height, const std::vector<Node>& pieces);

    std::size_t sections_;
    std::vector<Piece> leaves_;
    Random& random_;
    std::int64_t& work_;
    std::function<bool()> is_over_;
    Forest forest_;
    Coord noise_ = 0;
    std::vector<Candidate> queue_;  // a heap
    std::uint32_t turn_ = 0;
    std::vector<Change> log_;
    std::vector<Node> fresh_, touching_, alike_, chosen_;
    std::vector<Sum> sums_, others_;
};

}  // namespace memplan
