// What both kinds of state keep account of: the work done, the cliques that failed, and whether the problem may have fallen into parts.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace memplan {

class Account {
  public:
    // True if since the last call the last unplaced block between two cliques was placed.
    bool take_cut() { return std::exchange(cut_, false); }

    std::int64_t work() const { return work_; }
    void look_at(int c) { work_ += c; }

    const std::vector<int>& bumped() const { return bumped_; }
    void clear_bumped() { bumped_.clear(); }

  protected:
    explicit Account(std::vector<std::uint32_t>& weight) : weight_(weight) {}

    // Blames a clique.
    void bump(int c) {
        ++weight_[c];
        bumped_.push_back(c);
    }

    std::vector<std::uint32_t>& weight_;  // by clique: its failures
    bool cut_ = false;
    std::int64_t work_ = 0;
    std::vector<int> bumped_;  // the cliques that failed since the last clear_bumped
};

}  // namespace memplan
