// What all gluing of one call shares: random numbers, the work that is done, and when to stop.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/improvement.hpp"
#include "shared/random.hpp"

namespace memplan {

class Course {
public:
    Course(const ImprovementOptions& options, const ImprovementReport& report) : random(options.seed), most_(options.work), report_(report) {}

    Random random;
    std::int64_t work = 0;  // in looks

    std::uint64_t below(std::uint64_t most) { return (random.next() >> 32) * most >> 32; }
    std::int64_t left() const { return most_ - work; }

    bool is_over() {
        if (!stopped_ && (++asked_ & 15) == 0) tick();
        return stopped_ || work >= most_;
    }

    // True if the caller wants to stop.
    bool stops() {
        tick();
        return stopped_;
    }

    void report(const std::vector<Coord>& better) { stopped_ = report_(&better) || stopped_; }

private:
    void tick() {
        if (breath_.is_over()) stopped_ = report_(nullptr);
    }

    const std::int64_t most_;
    const ImprovementReport& report_;
    unsigned asked_ = 0;
    bool stopped_ = false;
    Breath breath_;
};

}  // namespace memplan
