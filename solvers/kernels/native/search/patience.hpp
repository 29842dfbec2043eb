// Building the model of a large instance takes a good part of a second, and whoever does not want it any more must not wait for that.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace memplan {

// Thrown where the work is not wanted any more.
struct Interrupted {};

class Patience {
  public:
    // `is_over` is asked after every so many steps, which is once in about a millisecond.
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

}  // namespace memplan
