// The distances that two blocks of any shape must keep.
#pragma once

#include <algorithm>
#include <limits>

#include "search/states/starts.hpp"

namespace memplan {

class Distances {
  public:
    explicit Distances(const Model& model) : m_(model) {}

    // The least allowed distance x[other] - x[block] from `apart` on, for this edge of block.
    Coord open_distance(int edge, Coord apart) const {
        const int row = m_.split[edge];
        if (row == kNone) {
            const Gap gap = m_.distance[edge];
            return apart > gap.low && apart < gap.high ? gap.high : apart;
        }
        for (int i = m_.pieces.begin(row); i < m_.pieces.end(row); ++i) {
            const Gap gap = m_.pieces.values[i];
            if (apart > gap.low && apart < gap.high) apart = gap.high;
        }
        return apart;
    }

    // As open_distance, but for x[block] - x[other].
    Coord open_distance_from(int edge, Coord apart) const {
        const int row = m_.split[edge];
        if (row == kNone) {
            const Gap gap = m_.distance[edge];
            return apart > -gap.high && apart < -gap.low ? -gap.low : apart;
        }
        for (int i = m_.pieces.end(row) - 1; i >= m_.pieces.begin(row); --i) {
            const Gap gap = m_.pieces.values[i];
            if (apart > -gap.high && apart < -gap.low) apart = -gap.low;
        }
        return apart;
    }

    // The least position of the block if this neighbour keeps it from x; kNever if the neighbour cannot.
    Coord pushed_by(int edge, Coord low, Coord x) const {
        const int row = m_.split[edge], other = m_.neighbours.values[edge];
        Coord least = kNever;
        const auto consider = [&](Gap gap) {
            // The neighbour overlaps the block at x from positions strictly between x + gap.low and x + gap.high.
            const Coord from = align_up(m_, other, std::max(low, x + gap.low + 1));
            if (from < x + gap.high) least = std::min(least, from - gap.low);
        };
        if (row == kNone) {
            consider(m_.distance[edge]);
        } else {
            for (int i = m_.pieces.begin(row); i < m_.pieces.end(row); ++i) consider(m_.pieces.values[i]);
        }
        return least;
    }

  private:
    static constexpr Coord kNever = std::numeric_limits<Coord>::max();
    const Model& m_;
};

}  // namespace memplan
