// The open divisions of a section (see solvers/kernels/plain.py, which says what each function does).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "shared/input.hpp"

namespace memplan {

using Home = std::int32_t;
__extension__ using Cost = __int128;

struct Part {
    Cost bound = 0;
    std::int64_t order = 0;
    std::vector<Home> chosen;
    std::vector<Coord> loads;
    std::int64_t seen = 0, last = 0;
    bool is_solved = false;
    std::int64_t note = 0;

    bool operator<(const Part& other) const {
        if (bound != other.bound) return bound < other.bound;
        return order != other.order ? order < other.order : chosen < other.chosen;
    }
};

// What a pool costs by its height.
class PricedPool {
public:
    PricedPool(std::vector<Coord> heights, std::vector<Cost> values, std::vector<Cost> slopes, std::vector<Cost> least);
    Cost at_least(Coord low, Coord high) const;

private:
    std::size_t part_of(Coord height) const;
    Cost at(std::size_t part, Coord height) const { return values_[part] + (height - heights_[part]) * slopes_[part]; }

    std::vector<Coord> heights_;
    std::vector<Cost> values_, slopes_;
    std::vector<std::vector<Cost>> least_;  // for each power of two, the least value at so many parts from each one on
};

struct PricedSection {
    std::vector<Cost> rest;
    std::vector<std::vector<Cost>> due;
    std::vector<PricedPool> pools;
};

using Ranges = std::vector<std::pair<Coord, Coord>>;

class OpenDivisions {
public:
    OpenDivisions(std::vector<std::vector<Home>> homes, std::vector<std::vector<Coord>> units, std::vector<Coord> ends, std::vector<Coord> lowest,
                  const std::vector<Coord>& always, Coord free, Cost enough);

    std::size_t size() const { return open_.size(); }
    Cost least() const { return open_.empty() ? enough_ : open_.front().bound; }
    void add(PricedSection&& prices) { prices_.push_back(std::move(prices)); }
    void push(Part&& part);
    std::optional<Part> next(std::int64_t work, std::int64_t patience);
    void divide(const Part& part);
    std::optional<Part> ahead(std::size_t width, std::int64_t work);
    Ranges around(const Part& part, Cost below);
    Ranges heights(const Part& part) const;
    Ranges heights_below(Cost value, std::int64_t work);

    bool is_sound(const Part& part) const;
    std::size_t classes() const { return homes_.size(); }
    std::size_t pools() const { return ends_.size(); }
    Coord end_of(std::size_t pool) const { return ends_[pool]; }

    std::int64_t work = 0, since = 0;

private:
    Part pop();
    void look_at(Part& part, Cost enough);
    Cost bound(std::size_t number, const Part& part, const Ranges& heights);
    void append_divided(const Part& part, std::vector<Part>& to);
    void find_heights(const Part& part, Ranges& found) const;
    bool is_whole(const Part& part) const { return part.chosen.size() == homes_.size(); }

    std::vector<std::vector<Home>> homes_;
    std::vector<std::vector<Coord>> units_;
    std::vector<Coord> ends_, lowest_;
    Cost enough_;
    std::vector<std::vector<Coord>> rest_;  // by how many have a pool, the most that the others may take in each pool, each as little as anywhere
    std::vector<Coord> left_;               // and the most that those may take together
    std::vector<PricedSection> prices_;
    std::vector<Part> open_;  // a heap
    std::set<std::vector<Home>> ahead_;
    std::int64_t number_ = 0;
    Ranges heights_;          // of the part at hand
    std::vector<Part> next_;  // what it is divided into
};

}  // namespace memplan
