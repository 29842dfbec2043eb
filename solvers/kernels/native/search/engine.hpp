// The decision search: is there a placement that ends at or below a given height?
//
// Every free block has a least possible offset, its low. The search places a block at its low, or proves that it lies higher and raises the
// low to the least offset at which something could have pushed it. Some best placement has every block at the lowest feasible start
// given all the others, so nothing is lost by that. What cliques have to hold above their floor prunes.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "search/building/model.hpp"
#include "shared/random.hpp"

namespace memplan {

enum class Answer { kFound, kImpossible, kBudget, kStopped };

struct Style {
    std::uint64_t seed = 0;
    int order = 0;  // which static order breaks ties, of three
    std::int64_t nodes = 500;
    std::int64_t work = std::numeric_limits<std::int64_t>::max() / 4;
};

// Lets whoever started the search stop it.
class Watch {
  public:
    virtual ~Watch() = default;
    virtual bool stopped() = 0;  // asked about once a millisecond
};

class Engine {
  public:
    virtual ~Engine() = default;

    // Keeps what it learns from failures for the next time.
    virtual Answer decide(Coord height, const Style& style, Watch& watch) = 0;

    // As if the last call of decide that is neither kept nor forgotten had taught nothing.
    virtual void forget() = 0;

    // What the first such call taught stays.
    virtual void keep() = 0;

    // Offsets of the movable blocks, in units, after kFound.
    const std::vector<Coord>& offsets() const { return offset_; }
    std::int64_t nodes() const { return nodes_; }
    std::int64_t work() const { return work_; }

  protected:
    std::vector<Coord> offset_;
    std::vector<std::uint32_t> weight_;  // of cliques, by failures
    std::int64_t nodes_ = 0, work_ = 0;
};

std::unique_ptr<Engine> make_engine(const Model& model);

}  // namespace memplan
