// Pieces that are glued together: trees whose leaves are blocks and whose inner nodes are two pieces, one on top of the other or one after the other, or
// a pinwheel: four pieces around a fifth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

using Node = std::int32_t;
inline constexpr Node kNoNode = -1;

enum class Joint : std::uint8_t { kLeaf, kStack, kChain, kWheel };

// What is joined: the lower and the upper; or the earlier and the later; or of a wheel what lies below its middle, what begins when the middle ends, what
// ends when it begins, what lies above it, and the middle.
using Parts = std::array<Node, 5>;

inline constexpr Parts two(Node first, Node second) { return {first, second, kNoNode, kNoNode, kNoNode}; }

struct Piece {
    std::int32_t begin = 0, end = 0;  // sections
    Coord height = 0;
    Parts parts = two(kNoNode, kNoNode);
    Node next_begin = kNoNode, last_begin = kNoNode;  // links among the loose pieces with the same begin
    Node next_end = kNoNode, last_end = kNoNode;      // links among those with the same end
    std::int32_t place = 0;  // index in the list of loose pieces
    Joint joint = Joint::kLeaf;
    bool loose = false;

    std::span<const Node> made_of() const { return {parts.data(), joint == Joint::kLeaf ? std::size_t{0} : joint == Joint::kWheel ? parts.size() : 2}; }
};

class Forest {
public:
    void reset(std::size_t sections, std::vector<Piece> leaves) {
        pieces_ = std::move(leaves), unused_.clear(), loose_.clear();
        begins_.assign(sections + 1, kNoNode), ends_.assign(sections + 1, kNoNode);
        begin_counts_.assign(sections + 1, 0), end_counts_.assign(sections + 1, 0);
        begin_marks_.assign(sections / 64 + 1, 0), end_marks_.assign(sections / 64 + 1, 0);
        for (Node leaf = static_cast<Node>(pieces_.size()); leaf-- > 0;) loosen(leaf);
    }

    const Piece& operator[](Node node) const { return pieces_[static_cast<std::size_t>(node)]; }
    std::size_t nodes() const { return pieces_.size(); }
    const std::vector<Node>& loose() const { return loose_; }
    Node beginning_at(std::int32_t time) const { return begins_[static_cast<std::size_t>(time)]; }
    Node ending_at(std::int32_t time) const { return ends_[static_cast<std::size_t>(time)]; }
    // How many loose pieces begin or end at this time.
    std::int32_t count_beginning(std::int32_t time) const { return begin_counts_[static_cast<std::size_t>(time)]; }
    std::int32_t count_ending(std::int32_t time) const { return end_counts_[static_cast<std::size_t>(time)]; }

    Node join(const Piece& made) {
        Node node;
        if (unused_.empty()) {
            node = static_cast<Node>(pieces_.size());
            pieces_.push_back(made);
        } else {
            node = unused_.back();
            unused_.pop_back();
            pieces_[static_cast<std::size_t>(node)] = made;
        }
        rejoin(node);
        return node;
    }

    // Takes a piece apart. Its node keeps its data until it is given back.
    void split(Node node) {
        bind(node);
        const std::span<const Node> parts = (*this)[node].made_of();
        for (std::size_t i = parts.size(); i-- > 0;) loosen(parts[i]);
    }

    void rejoin(Node node) {
        for (const Node part : (*this)[node].made_of()) bind(part);
        loosen(node);
    }

    void give_back(Node node) { unused_.push_back(node); }

    // The next time from `time` on, or the last up to it, at which a loose piece begins or ends; kNoNode if there is none.
    std::int32_t next_begin(std::int32_t time) const { return next(begin_marks_, time); }
    std::int32_t last_begin(std::int32_t time) const { return last(begin_marks_, time); }
    std::int32_t next_end(std::int32_t time) const { return next(end_marks_, time); }
    std::int32_t last_end(std::int32_t time) const { return last(end_marks_, time); }

private:
    using Marks = std::vector<std::uint64_t>;

    Piece& at(Node node) { return pieces_[static_cast<std::size_t>(node)]; }

    void loosen(Node node) {
        Piece& piece = at(node);
        piece.loose = true, piece.place = static_cast<std::int32_t>(loose_.size());
        loose_.push_back(node);
        ++begin_counts_[static_cast<std::size_t>(piece.begin)], ++end_counts_[static_cast<std::size_t>(piece.end)];
        Node& begin = begins_[static_cast<std::size_t>(piece.begin)];
        piece.last_begin = kNoNode, piece.next_begin = begin;
        if (begin != kNoNode) at(begin).last_begin = node;
        begin = node;
        begin_marks_[static_cast<std::size_t>(piece.begin) / 64] |= std::uint64_t{1} << (piece.begin % 64);
        Node& end = ends_[static_cast<std::size_t>(piece.end)];
        piece.last_end = kNoNode, piece.next_end = end;
        if (end != kNoNode) at(end).last_end = node;
        end = node;
        end_marks_[static_cast<std::size_t>(piece.end) / 64] |= std::uint64_t{1} << (piece.end % 64);
    }

    void bind(Node node) {
        Piece& piece = at(node);
        piece.loose = false;
        --begin_counts_[static_cast<std::size_t>(piece.begin)], --end_counts_[static_cast<std::size_t>(piece.end)];
        const Node moved = loose_.back();
        loose_.pop_back();
        if (moved != node) loose_[static_cast<std::size_t>(piece.place)] = moved, at(moved).place = piece.place;
        if (piece.next_begin != kNoNode) at(piece.next_begin).last_begin = piece.last_begin;
        if (piece.last_begin != kNoNode) {
            at(piece.last_begin).next_begin = piece.next_begin;
        } else {
            begins_[static_cast<std::size_t>(piece.begin)] = piece.next_begin;
            if (piece.next_begin == kNoNode) begin_marks_[static_cast<std::size_t>(piece.begin) / 64] &= ~(std::uint64_t{1} << (piece.begin % 64));
        }
        if (piece.next_end != kNoNode) at(piece.next_end).last_end = piece.last_end;
        if (piece.last_end != kNoNode) {
            at(piece.last_end).next_end = piece.next_end;
        } else {
            ends_[static_cast<std::size_t>(piece.end)] = piece.next_end;
            if (piece.next_end == kNoNode) end_marks_[static_cast<std::size_t>(piece.end) / 64] &= ~(std::uint64_t{1} << (piece.end % 64));
        }
    }

    static std::int32_t next(const Marks& marks, std::int32_t time) {
        auto word = static_cast<std::size_t>(time) / 64;
        if (word >= marks.size()) return kNoNode;
        std::uint64_t bits = marks[word] & (~std::uint64_t{0} << (time % 64));
        while (bits == 0) {
            if (++word == marks.size()) return kNoNode;
            bits = marks[word];
        }
        return static_cast<std::int32_t>(word * 64) + __builtin_ctzll(bits);
    }

    static std::int32_t last(const Marks& marks, std::int32_t time) {
        if (time < 0) return kNoNode;
        auto word = static_cast<std::size_t>(time) / 64;
        std::uint64_t bits = marks[word] & (~std::uint64_t{0} >> (63 - time % 64));
        while (bits == 0) {
            if (word-- == 0) return kNoNode;
            bits = marks[word];
        }
        return static_cast<std::int32_t>(word * 64) + 63 - __builtin_clzll(bits);
    }

    std::vector<Piece> pieces_;
    std::vector<Node> unused_, loose_;
    std::vector<Node> begins_, ends_;  // by time: the first loose piece that begins or ends there
    std::vector<std::int32_t> begin_counts_, end_counts_;  // by time
    Marks begin_marks_, end_marks_;    // the times with a loose piece
};

}  // namespace memplan
