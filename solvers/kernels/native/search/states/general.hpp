// State and propagation of the decision search for blocks of every kind: several rectangles, exclusions, extra conflicts.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "search/states/account.hpp"
#include "search/states/distances.hpp"

namespace memplan {

class GeneralState : public Account {
  public:
    static constexpr int kChunk = 32;
    static constexpr bool kSelfContained = false;  // a block may hang below a placed one
    static constexpr Coord kPlaced = std::numeric_limits<Coord>::max();

    struct Mark {
        std::size_t lows, states, places, hangs;
    };

    explicit GeneralState(const Model& model, std::vector<std::uint32_t>& weight)
        : Account(weight),
          m_(model),
          apart_(model),
          n_(model.blocks()),
          cliques_(model.cliques()),
          aligned_(std::any_of(model.modulus.begin(), model.modulus.end(), [](Coord a) { return a != 1; })),
          stopped_starts_(!model.stops.values.empty()),
          low_(n_),
          high_(n_),
          offset_(n_),
          hanging_(n_, 0),
          state_(cliques_),
          saved_(cliques_, 0),
          sum_(cliques_),
          ceiling_(cliques_),
          count_(cliques_),
          member_(model.clique.values),
          member_entry_(model.clique.values.size()),
          slot_(model.clique.values.size()),
          uneven_(cliques_, 0),
          queued_(cliques_, 0),
          queue_(cliques_ + 1),
          crossing_(cliques_ + 1) {}

    // --- read by selection ---

    int count(int c) const { return count_[c]; }
    Coord slack(int c) const { return state_[c].reach - state_[c].floor; }
    int candidates(int c) const { return state_[c].candidates; }
    Coord ceiling(int c) const { return ceiling_[c]; }
    bool crossed(int c) const { return crossing_[c] > 0; }
    bool placed(int block) const { return low_[block] == kPlaced; }
    Coord low(int block) const { return low_[block]; }
    Coord offset(int block) const { return offset_[block]; }

    bool take_changed(int) const { return true; }

    // The unplaced member of a clique with the lowest possible bottom.
    int lowest(int c, const int* order) const;

    // Goes down from a block to one that no unplaced block can lie below. Sets its least position if not at its low; false if it has no alternative
    // to its low.
    bool descend(int& block, const int* order, Coord& raise_to);

    // --- changes, and the journal that undoes them ---

    Mark mark();
    void undo(const Mark& mark);

    // False if a block is left without room; settle then checks the cliques.
    bool place(int block);
    bool raise(int block, Coord x);

    // Brings all queued cliques up to date; false if one of them cannot hold its members.
    bool settle();

    // Resets to the root of the search for this height; false if that height is impossible at once.
    bool start(Coord height);

  private:
    struct Level {
        Coord floor;     // least bottom of an unplaced member
        Coord reach;     // highest possible bottom of the lowest unplaced member
        int candidates;  // members that may be the lowest
    };

    // --- geometry ---

    Coord bottom(int entry) const { return m_.extent[entry].bottom; }
    Coord solid_top(int entry) const {
        return m_.extent[entry].bottom + m_.extent[entry].solid;
    }
    Coord entry_height(int entry) const { return m_.extent[entry].height; }
    Coord entry_top(int entry) const { return m_.extent[entry].top; }

    // The least feasible start from x on, given the placed blocks.
    Coord feasible(int block, Coord x);

    void enqueue(int c);

    void clear_queue();

    // Blames the fullest clique of a block that has no room.
    void blame(int block);

    void save(int c);

    void unplace(int block);

    bool refresh(int c);

    Coord floor_of(int c) const;

    const Model& m_;
    const Distances apart_;
    const int n_, cliques_;
    const bool aligned_, stopped_starts_;
    std::vector<Coord> low_, high_, offset_;
    std::vector<int> hanging_;  // by block: number of placed neighbours that it may lie below
    std::vector<Level> state_;
    std::vector<std::uint32_t> saved_;
    std::uint32_t epoch_ = 0;
    std::vector<Coord> sum_, ceiling_;
    std::vector<int> count_;
    std::vector<int> member_, member_entry_, slot_;  // the unplaced members of a clique come first in its row
    std::vector<char> uneven_;                       // members cannot all end at the ceiling
    std::vector<char> queued_;
    std::vector<int> queue_;
    int queue_head_ = 0, queue_size_ = 0;
    std::vector<int> crossing_;
    std::vector<std::pair<int, Coord>> low_trail_;
    std::vector<std::pair<int, Level>> state_trail_;
    std::vector<int> place_trail_, hang_trail_;
};

}  // namespace memplan
