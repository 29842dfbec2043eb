#include "plain/divisions.hpp"

#include <algorithm>
#include <bit>

namespace memplan {

namespace {

bool is_later(const Part& one, const Part& other) { return other < one; }

// A box with these heights.
void widen(Ranges& box, const Ranges& heights) {
    if (box.empty()) box = heights;
    for (std::size_t pool = 0; pool < box.size(); ++pool) {
        box[pool] = {std::min(box[pool].first, heights[pool].first), std::max(box[pool].second, heights[pool].second)};
    }
}

bool is_within(const Ranges& heights, const Ranges& box) {
    if (box.empty()) return false;
    for (std::size_t pool = 0; pool < box.size(); ++pool) {
        if (heights[pool].first < box[pool].first || heights[pool].second > box[pool].second) return false;
    }
    return true;
}

}  // namespace

PricedPool::PricedPool(std::vector<Coord> heights, std::vector<Cost> values, std::vector<Cost> slopes, std::vector<Cost> least)
    : heights_(std::move(heights)), values_(std::move(values)), slopes_(std::move(slopes)), least_{std::move(least)} {
    for (std::size_t width = 1; 2 * width <= heights_.size(); width *= 2) {
        const auto& row = least_.back();
        std::vector<Cost> wider(row.size() - width);
        for (std::size_t i = 0; i < wider.size(); ++i) wider[i] = std::min(row[i], row[i + width]);
        least_.push_back(std::move(wider));
    }
}

std::size_t PricedPool::part_of(Coord height) const {
    return static_cast<std::size_t>(std::upper_bound(heights_.begin() + 1, heights_.end(), height) - heights_.begin()) - 1;
}

Cost PricedPool::at_least(Coord low, Coord high) const {
    const std::size_t first = part_of(low), last = part_of(high);
    Cost found = std::min(at(first, low), at(last, high));
    if (first < last) {
        const auto power = static_cast<std::size_t>(std::bit_width(last - first)) - 1;
        const auto& row = least_[power];
        found = std::min({found, row[first + 1], row[last + 1 - (std::size_t{1} << power)]});
    }
    return found;
}

OpenDivisions::OpenDivisions(std::vector<std::vector<Home>> homes, std::vector<std::vector<Coord>> units, std::vector<Coord> ends, std::vector<Coord> lowest,
                             const std::vector<Coord>& always, Coord free, Cost enough)
    : homes_(std::move(homes)), units_(std::move(units)), ends_(std::move(ends)), lowest_(std::move(lowest)), enough_(enough),
      rest_(classes() + 1, std::vector<Coord>(pools(), 0)), left_{free} {
    for (const Coord each : always) left_.front() += each;
    std::vector<Coord> least(classes());
    for (std::size_t i = 0; i < classes(); ++i) {
        const auto taken = [&](Home pool) { return units_[i][static_cast<std::size_t>(pool)]; };
        least[i] = taken(homes_[i].front());
        for (const Home pool : homes_[i]) least[i] = std::min(least[i], taken(pool));
        left_.push_back(left_.back() + least[i]);
    }
    for (std::size_t i = classes(); i-- > 0;) {
        rest_[i] = rest_[i + 1];
        for (const Home pool : homes_[i]) rest_[i][static_cast<std::size_t>(pool)] += least[i];
    }
}

void OpenDivisions::push(Part&& part) {
    if (part.bound >= enough_) return;
    part.order = -(static_cast<std::int64_t>(part.chosen.size()) << 40) - ++number_;
    open_.push_back(std::move(part));
    std::push_heap(open_.begin(), open_.end(), is_later);
}

Part OpenDivisions::pop() {
    std::pop_heap(open_.begin(), open_.end(), is_later);
    Part part = std::move(open_.back());
    open_.pop_back();
    return part;
}

std::optional<Part> OpenDivisions::next(std::int64_t upto, std::int64_t patience) {
    while (!open_.empty() && work < upto) {
        Part part = pop();
        if (part.seen < static_cast<std::int64_t>(prices_.size()) && !(is_whole(part) && part.is_solved)) {
            look_at(part, enough_);
            push(std::move(part));
        } else if (is_whole(part) || since >= patience) {
            return part;
        } else {
            divide(part);
        }
    }
    return std::nullopt;
}

void OpenDivisions::divide(const Part& part) {
    ++since;
    next_.clear();
    append_divided(part, next_);
    for (Part& each : next_) push(std::move(each));
}

std::optional<Part> OpenDivisions::ahead(std::size_t width, std::int64_t upto) {
    std::vector<Part> some;
    const auto keep_cheapest = [&] {
        const auto kept = std::min(width, some.size());
        std::partial_sort(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(kept), some.end());
        some.resize(kept);
    };
    for (const Part& part : open_) {
        if (is_whole(part) || (some.size() == width && !(part < some.back()))) continue;
        some.insert(std::upper_bound(some.begin(), some.end(), part), part);
        if (some.size() > width) some.pop_back();
    }
    while (!std::ranges::all_of(some, [&](const Part& part) { return is_whole(part); })) {
        if (work >= upto) return std::nullopt;
        std::vector<Part> divided;
        for (Part& part : some) {
            if (is_whole(part)) divided.push_back(std::move(part));
            else append_divided(part, divided);
        }
        for (Part& part : divided) look_at(part, enough_);
        std::erase_if(divided, [&](const Part& part) { return part.bound >= enough_; });
        some = std::move(divided);
        keep_cheapest();
    }
    if (some.empty()) return std::nullopt;
    ahead_.insert(some.front().chosen);
    return std::move(some.front());
}

Ranges OpenDivisions::around(const Part& part, Cost below) {
    Ranges box = heights(part);
    for (const Part& other : open_) {
        if (other.bound >= below) continue;
        ++work;
        widen(box, heights(other));
    }
    return box;
}

Ranges OpenDivisions::heights(const Part& part) const {
    Ranges found;
    find_heights(part, found);
    return found;
}

Ranges OpenDivisions::heights_below(Cost value, std::int64_t most) {
    Ranges box;
    const std::int64_t begun = work;
    std::vector<Part> parts, divided;
    std::sort(open_.begin(), open_.end());  // that is a heap, too
    for (auto next = open_.begin(); !parts.empty() || next != open_.end();) {
        if (parts.empty()) parts.push_back(*next++);
        Part part = std::move(parts.back());
        parts.pop_back();
        const Ranges here = heights(part);
        if (is_within(here, box)) continue;
        const bool is_over = work - begun >= most;
        if (!is_over) look_at(part, value);
        if (part.bound >= value) continue;
        if (is_over || is_whole(part)) {
            widen(box, here);
            continue;
        }
        divided.clear();
        append_divided(part, divided);
        std::sort(divided.begin(), divided.end(), is_later);
        for (Part& each : divided) parts.push_back(std::move(each));
    }
    return box;
}

bool OpenDivisions::is_sound(const Part& part) const {
    if (part.chosen.size() > classes() || part.loads.size() != pools() || part.last < 0 || part.seen < 0) return false;
    if (part.last > 0 && part.last >= static_cast<std::int64_t>(prices_.size())) return false;
    for (std::size_t i = 0; i < part.chosen.size(); ++i) {
        if (std::ranges::find(homes_[i], part.chosen[i]) == homes_[i].end()) return false;
    }
    return std::ranges::equal(part.loads, ends_, [](Coord load, Coord end) { return load >= 0 && load <= end; });
}

// Bounds a part by all prices, or by some that prove that it costs enough.
void OpenDivisions::look_at(Part& part, Cost enough) {
    find_heights(part, heights_);
    const std::size_t count = prices_.size();
    Cost known = part.bound;
    std::int64_t last = part.last;
    for (auto number = static_cast<std::size_t>(part.seen); number < count && known < enough; ++number) {
        const Cost other = bound(number, part, heights_);
        if (other > known) known = other, last = static_cast<std::int64_t>(number);
    }
    part.bound = known, part.last = last, part.seen = static_cast<std::int64_t>(count);
}

Cost OpenDivisions::bound(std::size_t number, const Part& part, const Ranges& heights) {
    ++work;
    const PricedSection& prices = prices_[number];
    Cost total = prices.rest[part.chosen.size()];
    for (std::size_t i = 0; i < part.chosen.size(); ++i) total += prices.due[i][static_cast<std::size_t>(part.chosen[i])];
    for (std::size_t pool = 0; pool < heights.size(); ++pool) total += prices.pools[pool].at_least(heights[pool].first, heights[pool].second);
    return total;
}

// The next of the section in each pool that has room for it, as long as all pools can be as high as what is there in any case.
void OpenDivisions::append_divided(const Part& part, std::vector<Part>& to) {
    const std::size_t group = part.chosen.size();
    for (const Home home : homes_[group]) {
        const auto pool = static_cast<std::size_t>(home);
        const Coord load = part.loads[pool] + units_[group][pool];
        if (load > ends_[pool]) continue;
        Part each{.bound = part.bound, .chosen = {}, .loads = part.loads, .last = part.last};
        each.loads[pool] = load;
        each.chosen.reserve(group + 1);
        each.chosen = part.chosen;
        each.chosen.push_back(home);
        Coord sum = 0;
        for (const Coord one : each.loads) sum += one;
        if (sum > left_[group + 1]) continue;
        find_heights(each, heights_);
        bool is_high = true;
        for (std::size_t i = 0; i < heights_.size(); ++i) is_high &= heights_[i].second >= lowest_[i];
        if (!is_high || ahead_.contains(each.chosen)) continue;
        if (!prices_.empty()) each.bound = std::max(part.bound, bound(static_cast<std::size_t>(part.last), each, heights_));
        to.push_back(std::move(each));
    }
}

void OpenDivisions::find_heights(const Part& part, Ranges& found) const {
    const auto& rest = rest_[part.chosen.size()];
    Coord free = left_[part.chosen.size()];
    for (const Coord load : part.loads) free -= load;
    found.resize(part.loads.size());
    for (std::size_t pool = 0; pool < found.size(); ++pool) {
        const Coord load = part.loads[pool];
        found[pool] = {load, std::min(load + rest[pool] + free, ends_[pool])};
    }
}

}  // namespace memplan
