// Static orders of blocks that break ties, reshuffled a little for each attempt.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "search/building/model.hpp"
#include "shared/random.hpp"

namespace memplan {

class TieOrders {
  public:
    static constexpr int kOrders = 3;  // by lifetime, by size, by area; the other two break ties

    explicit TieOrders(const Model& model) : n_(model.blocks()) {
        const auto& width = model.lifetime;
        const auto& total = model.size;
        std::vector<Coord> area(n_);
        for (int j = 0; j < n_; ++j) {
            // Saturation is enough for ordering.
            if (__builtin_mul_overflow(width[j], total[j], &area[j])) area[j] = std::numeric_limits<Coord>::max();
        }
        const auto key = [&](int order, int j) {
            if (order == 0) return std::tuple(-width[j], -area[j], -total[j], j);
            if (order == 1) return std::tuple(-total[j], -area[j], -width[j], j);
            return std::tuple(-area[j], -width[j], -total[j], j);
        };
        for (int order = 0; order < kOrders; ++order) {
            std::vector<int>& by = sorted_[order];
            by.resize(n_);
            std::iota(by.begin(), by.end(), 0);
            std::sort(by.begin(), by.end(), [&](int a, int b) { return key(order, a) < key(order, b); });
            const std::vector<Coord>& main = order == 0 ? width : order == 1 ? total : area;
            const Coord largest = n_ == 0 ? 0 : *std::max_element(main.begin(), main.end());
            int shift = 0;
            while (largest >> shift >= Coord{1} << 50) ++shift;
            for (const int j : by) main_[order].push_back(main[j] >> shift);
        }
        rank_.resize(n_);
        noisy_.resize(n_);
    }

    // By block: its rank in this order. Blocks whose keys differ by less than a quarter may change places.
    const int* ranks(int order, std::uint64_t seed) {
        Random random(seed);
        for (int i = 0; i < n_; ++i) {
            noisy_[i] = {-main_[order][i] * static_cast<Coord>(64 + random.next() % 16), i};
        }
        std::sort(noisy_.begin(), noisy_.end());
        for (int i = 0; i < n_; ++i) rank_[sorted_[order][noisy_[i].second]] = i;
        return rank_.data();
    }

  private:
    int n_;
    std::vector<int> sorted_[kOrders];
    std::vector<Coord> main_[kOrders];  // in that order
    std::vector<std::pair<Coord, int>> noisy_;
    std::vector<int> rank_;
};

}  // namespace memplan
