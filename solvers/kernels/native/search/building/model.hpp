// The search's model of an instance: movable blocks, their conflicts, and cliques of blocks that must lie side by side.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

inline constexpr int kNone = -1;

// Building the model of a large instance takes a good part of a second. Thrown when the caller no longer wants it.
struct Interrupted {};

class Patience {
  public:
    // `is_over` is called after a fixed number of steps, about once a millisecond.
    explicit Patience(std::function<bool()> is_over) : is_over_(std::move(is_over)) {}

    void spend(std::size_t steps) {
        if (steps < left_) {
            left_ -= steps;
            return;
        }
        left_ = kSteps;
        if (is_over_()) throw Interrupted{};
    }

  private:
    static constexpr std::size_t kSteps = std::size_t{1} << 17;

    std::function<bool()> is_over_;
    std::size_t left_ = kSteps;
};

// Rows of different lengths in one array: row i is values[start[i]] .. values[start[i + 1]].
template <typename T>
struct Rows {
    std::vector<int> start{0};
    std::vector<T> values;

    int begin(int row) const { return start[row]; }
    int end(int row) const { return start[row + 1]; }
    int rows() const { return static_cast<int>(start.size()) - 1; }
    void close_row() { start.push_back(static_cast<int>(values.size())); }
};

// A forbidden open interval of distances x[other] - x[block].
struct Gap {
    Coord low, high;
};

// A rect or part begins to be live, or ends. Ends sort first.
struct Event {
    Coord section;
    bool begins;
    int what;

    bool operator<(const Event& other) const { return std::tie(section, begins, what) < std::tie(other.section, other.begins, other.what); }
};

// A half-open range of addresses, or of starts.
struct Range {
    Coord from, to;
};

// The addresses that a block takes in a clique, counted from its base.
struct Extent {
    Coord bottom;  // first address
    Coord solid;   // length of its first contiguous range
    Coord height;  // number of addresses
    Coord top;     // end
};

struct Model {
    Coord unit = 1;
    Coord origin = 0;  // residue of all bases modulo unit
    bool plain = true;  // one rect per block, no extra pairs: the distance above a block is its size
    bool separable = true;  // conflicts never reach beyond a block's hull, so that a cut in time splits the search
    std::string contradiction;  // why there is no placement at any height; empty if no reason is known

    // Blocks with a choice of offset; all in units except `height`, which is exact.
    std::vector<int> original;
    std::vector<Coord> size, modulus, residue, lowest, highest, height;
    std::vector<Coord> lifetime;  // in sections
    std::vector<int> twin;        // blocks with the same number are interchangeable
    Rows<Range> stops;            // starts that obstacles forbid, sorted and disjoint

    std::vector<std::pair<int, Coord>> fixed;  // input block, exact offset
    Coord fixed_peak = 0;
    Coord ceiling = 0;  // some best placement lies below this, in units: with every block as low as the others allow

    Rows<int> neighbours;           // empty if plain: cliques hold all conflicts
    std::vector<Gap> distance;      // parallel to neighbours: the hull of the forbidden distances
    std::vector<int> split;         // parallel to neighbours: row of pieces, or -1 if the whole hull is forbidden
    Rows<Gap> pieces;

    Rows<int> clique;               // members, by block
    std::vector<Extent> extent;     // parallel to clique, unless plain
    Rows<Range> obstacles;          // by clique, sorted and disjoint
    Rows<int> entries;              // by block: positions in clique.values
    std::vector<int> entry_clique;  // parallel to clique.values: the clique
    std::vector<int> first_clique, last_clique;  // hull of each block; cliques are in the order of time

    int blocks() const { return static_cast<int>(original.size()); }
    int cliques() const { return clique.rows(); }
};

// Throws TooLarge if more than max_pairs conflicting pairs, or memberships in cliques, would have to be listed; Interrupted if `patience` is over.
Model build_model(const SearchInput& input, std::size_t max_pairs, Patience& patience);

// Steps of build_model in other files.
struct PartView {
    std::vector<int> movable;                 // by input block: number in the model, or -1
    std::vector<std::vector<int>> parts;      // by input block: its parts of positive length
    std::vector<std::pair<int, int>> excluded;  // sorted pairs of parts
    std::vector<std::pair<int, int>> conflicts;  // sorted pairs of parts
    bool is_excluded(int a, int b) const;
};
void add_pairs(Model& model, const SearchInput& input, const PartView& view, std::size_t max_pairs, Patience& patience);
void add_cliques(Model& model, const SearchInput& input, const PartView& view, std::size_t most, Patience& patience);

void find_ceiling(Model& model);

// Appends one row: the forbidden ranges sorted and merged.
void append_merged(Rows<Range>& rows, std::vector<Range>& ranges);

inline Coord floor_div(Coord a, Coord b) { return a / b - ((a % b != 0) && ((a % b < 0) != (b < 0)) ? 1 : 0); }
inline Coord ceil_div(Coord a, Coord b) { return -floor_div(-a, b); }

}  // namespace memplan
