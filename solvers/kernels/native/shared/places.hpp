// The best base for a block among others that can be thrown out for it, each at a price; and those thrown out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "shared/blocks.hpp"
#include "shared/radix_sort.hpp"
#include "shared/random.hpp"

namespace memplan {

// Bases strictly between low and high are closed by this block.
struct Closed {
    Coord low = 0, high = 0;
    Coord price = 0;
    Index block = 0;
    bool stays = false;  // cannot be thrown out
};

struct Span {
    Coord lowest = 0, highest = 0;
    Coord modulus = 1, residue = 0;
};

struct Place {
    Coord base = 0, price = 0;
};

class Places {
public:
    // Candidates are the lowest and highest base and bases at which another block begins or ends. Returns a free one with as little room above as
    // possible, else the cheapest; of equally cheap ones, a random one. None if an immovable block is in the way everywhere.
    std::optional<Place> best(const std::vector<Closed>& closed, const Span& span, Random& random);

private:
    struct Edge {
        Coord at = 0, price = 0;
        std::int64_t stays = 0;
    };
    struct Choice {
        std::optional<Place> place;
        Coord room = 0;
        std::uint64_t ties = 0;
    };

    void sort_edges(const std::vector<Closed>& closed, Coord Closed::*side, std::vector<Edge>& edges);
    // Sweeps over ascending candidates: candidate(i) for i < count.
    template <typename Candidate>
    void sweep(std::size_t count, Candidate candidate, const Span& span, Choice& choice, Random& random) const;

    std::vector<Keyed> keys_;
    std::vector<Edge> begins_, ends_;
};

// The blocks that were thrown out and have no place yet, the dearest first.
class DearestFirst {
public:
    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }
    void clear() { heap_.clear(); }

    void push(Coord price, Index block) {
        heap_.emplace_back(price, block);
        std::push_heap(heap_.begin(), heap_.end());
    }

    // Of equally dear ones, the last.
    Index take() {
        std::pop_heap(heap_.begin(), heap_.end());
        const Index block = heap_.back().second;
        heap_.pop_back();
        return block;
    }

private:
    std::vector<std::pair<Coord, Index>> heap_;
};

}  // namespace memplan
