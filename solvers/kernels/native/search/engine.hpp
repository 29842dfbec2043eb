// The decision search: is there a placement that ends at or below a given height?
//
// Every free block has a least possible offset, its low. The search places a block at its low, or proves that it lies higher and raises the low to
// the least offset at which another block could have pushed it. Some best placement has every block at the lowest feasible start given all the
// others, so nothing is lost. A clique without enough room above its floor prunes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/building/model.hpp"
#include "shared/random.hpp"

namespace memplan {

enum class Answer { kFound, kImpossible, kBudget, kStopped };

struct Style {
    std::uint64_t seed = 0;
    int order = 0;  // one of three static orders that break ties
    std::int64_t nodes = 500;
};

// Lets the caller stop the search.
class Watch {
  public:
    virtual ~Watch() = default;
    virtual bool stopped() = 0;  // called about five times a millisecond
    // Is so much work all that the attempt may do? Called before each node; `first` is the part of it that the first propagation took.
    virtual bool spent(std::int64_t work, std::int64_t first) = 0;
};

class Engine {
  public:
    virtual ~Engine() = default;

    // Keeps what failures teach for later calls.
    virtual Answer decide(Coord height, const Style& style, Watch& watch) = 0;

    // Undoes what the last call of decide taught that is neither kept nor forgotten.
    virtual void forget() = 0;

    // Keeps what the first such call taught.
    virtual void keep() = 0;

    // Offsets of the movable blocks, in units, after kFound.
    const std::vector<Coord>& offsets() const { return offset_; }
    std::int64_t nodes() const { return nodes_; }
    std::int64_t work() const { return work_; }

  protected:
    std::vector<Coord> offset_;
    std::vector<std::uint32_t> weight_;  // by clique, grows with its failures
    std::int64_t nodes_ = 0, work_ = 0;
};

std::unique_ptr<Engine> make_engine(const Model& model);

}  // namespace memplan
