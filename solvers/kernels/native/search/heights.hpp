// Which heights to ask for, in order, and for how many rounds each.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "search/building/model.hpp"

namespace memplan {

// The least height above this one at which some block can end.
inline Coord next_height(const Model& model, Coord height) {
    Coord next = std::numeric_limits<Coord>::max();
    for (int j = 0; j < model.blocks(); ++j) {
        const Coord over = model.origin + model.height[j];
        next = std::min(next, over + model.unit * (floor_div(height - over, model.unit) + 1));
    }
    if (model.fixed_peak > height) next = std::min(next, model.fixed_peak);
    return next;
}

// The height of the current round. Given a round's result, it moves to the next one; so a copy predicts the following rounds as long as none is
// settled.
class Heights {
  public:
    // Every placement ends at or below `top`; with `fit`, any placement will do.
    Heights(const Model& model, Coord top, bool fit, Coord bound, std::optional<Coord> ceiling)
        : model_(&model), top_(top), fit_(fit), bound_(bound), ceiling_(ceiling) {
        if (wants_any() && !fit_) {
            ask(Stage::kFirst, std::min(bound_, top_), 1);
        } else {
            begin_level();
        }
    }

    Coord height() const { return height_; }

    // True if it is known that nothing fits.
    bool hopeless() const { return hopeless_; }

    // The round did not settle whether there is a placement of this height.
    void pass() {
        if (--left_ == 0) advance();
    }

    // The round settled it: no placement is lower than `bound`, and there is one as low as `ceiling`.
    void settle(Coord bound, std::optional<Coord> ceiling) {
        bound_ = bound;
        ceiling_ = ceiling;
        advance();
    }

  private:
    enum class Stage { kFirst, kTop, kBound, kBetween };

    static constexpr int kMostDoublings = 20;

    bool wants_any() const { return !ceiling_ || fit_; }
    int rounds() const { return 1 << std::min(level_, kMostDoublings); }

    void ask(Stage stage, Coord height, int rounds) {
        stage_ = stage;
        height_ = height;
        left_ = rounds;
    }

    void begin_level() {
        if (wants_any()) {
            ask(Stage::kTop, top_, rounds());
        } else {
            // The bound comes first: a placement there is optimal.
            ask(Stage::kBound, bound_, 2 * rounds());
        }
    }

    void advance() {
        switch (stage_) {
            case Stage::kFirst: return begin_level();
            case Stage::kTop:
                hopeless_ = bound_ > top_;
                if (wants_any()) {
                    ++level_;
                    return begin_level();
                }
                return ask(Stage::kBound, bound_, 2 * rounds());
            case Stage::kBound: low_ = bound_; break;
            case Stage::kBetween:
                if (*ceiling_ > height_) low_ = std::max(height_, bound_);
                break;
        }
        if (next_height(*model_, low_) < *ceiling_) return ask(Stage::kBetween, low_ + (*ceiling_ - low_) / 2, rounds());
        ++level_;
        begin_level();
    }

    const Model* model_;
    Coord top_;
    bool fit_;
    Coord bound_;
    std::optional<Coord> ceiling_;
    Stage stage_ = Stage::kFirst;
    int level_ = 0;
    Coord low_ = 0, height_ = 0;
    int left_ = 0;
    bool hopeless_ = false;
};

}  // namespace memplan
