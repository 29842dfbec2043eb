// The strategies of a round, and the work that each of their attempts may take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "search/building/glue.hpp"
#include "search/engine.hpp"

namespace memplan {

// A finished or running attempt of a strategy in a round.
struct Attempt {
    Answer answer = Answer::kBudget;
    bool ended = false;
    std::int64_t nodes = 0;
    std::int64_t work = 0;                    // while it runs: at least
    std::int64_t first = 0;                   // of that, what its first propagation took
    std::vector<std::int64_t> work_before{};  // each node, and the one before which it ended

    // Makes it what it would have been if it could do so much work after the first propagation.
    void cut(std::int64_t allowed) {
        const auto end = std::lower_bound(work_before.begin(), work_before.end(), first + allowed);
        if (end == work_before.end()) return;
        answer = Answer::kBudget;
        nodes = end - work_before.begin();
        work = *end;
    }

    bool settles() const { return answer == Answer::kFound || answer == Answer::kImpossible; }
};

struct Strategy {
    std::unique_ptr<Engine> engine;
    std::optional<Glued> glued;     // searched instead of the model if set: then it finds placements but proves nothing
    std::deque<Attempt> attempts;   // attempts that are not kept yet, by round; only the last may be running
    int kept = 0;                   // number of attempts that its engine still has to keep

    bool busy() const { return !attempts.empty() && !attempts.back().ended; }
};

class Strategies {
  public:
    Strategies(const Model& model, std::uint64_t seed, std::int64_t work)
        : model_(model), seed_(seed), work_(work), width_(model.blocks() > kManyBlocks ? kFew : kUsual) {
        if (model.blocks() > kManyBlocks) return;
        // The first strategies search the glued model; the others search the full one.
        for (int s = 0; s < kGlued; ++s) all_[s].glued = glue(model_, s == 0);
    }

    int width() const { return width_; }
    Strategy& operator[](int s) { return all_[s]; }

    Engine& engine(int s) {
        Strategy& strategy = all_[s];
        if (!strategy.engine) strategy.engine = make_engine(strategy.glued ? strategy.glued->model : model_);
        return *strategy.engine;
    }

    // The work that an attempt may take that begins after `done` work: all that is left, since one that is cut short is of no use.
    std::int64_t allowance(std::int64_t done) const { return std::max<std::int64_t>(work_ - done, 0); }

    Style style(int self, int round) const {
        Style style;
        style.seed = Random(Random(seed_).next() + static_cast<std::uint64_t>(round) * kUsual + static_cast<std::uint64_t>(self)).next();
        // Lifetime first is best on most of the hardest instances and useless on some; which ones cannot be predicted.
        style.order = self % 2 == 0 ? 0 : (self / 2 + round) % 3;
        // Short attempts find placements; the last strategy also makes long ones, which can prove.
        const int length = self == width_ - 1 ? luby(round + 1) : 1;
        style.nodes = length * (1000 + std::min(round * 10, 300) + model_.blocks());
        return style;
    }

  private:
    static constexpr int kUsual = 4, kFew = 2;
    static constexpr int kGlued = 2;
    static constexpr int kManyBlocks = 2000;  // with more blocks an attempt takes so long that only two are made before the next height

    // The i-th of 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...
    static int luby(int i) {
        for (;;) {
            int power = 1;
            while (2 * power <= i + 1) power *= 2;
            if (power == i + 1) return power / 2;
            i -= power - 1;
        }
    }

    const Model& model_;
    std::uint64_t seed_;
    std::int64_t work_;
    int width_;
    Strategy all_[kUsual];
};

}  // namespace memplan
