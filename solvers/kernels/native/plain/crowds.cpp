#include "plain/crowds.hpp"

#include <algorithm>
#include <utility>

namespace memplan {

namespace {

constexpr double kWhole = 1e-6;  // the same number stands in solvers/kernels/python/lifting.py

using Point = std::pair<Coord, Coord>;

bool is_below(const Point& one, const Point& middle, const Point& other) {
    return Cost{middle.second - one.second} * (other.first - one.first) <= Cost{other.second - one.second} * (middle.first - one.first);
}

// Of the line above all that the steps allow in this range, which touches it where that is least at `at`. Rounded as in Python, operation by operation.
Line line_above(const std::vector<Coord>& steps, const Point& range, double at) {
    const auto [low, high] = range;
    const auto first = std::ranges::upper_bound(steps, low), last = std::ranges::upper_bound(steps, high);
    Coord votes = first - steps.begin();
    const Line flat{.value = static_cast<double>(last - steps.begin()), .slope = 0.0};
    if (first >= last) return flat;
    std::vector<Point> hull{{low, votes}};
    for (auto step = first; step != last; ++step) {
        const Point point{*step, ++votes};
        if (point.first == hull.back().first) {
            hull.back() = point;
            continue;
        }
        while (hull.size() > 1 && is_below(hull[hull.size() - 2], hull.back(), point)) hull.pop_back();
        hull.push_back(point);
    }
    for (std::size_t i = 1; i < hull.size(); ++i) {
        const auto& [begin, before] = hull[i - 1];
        const auto& [end, after] = hull[i];
        if (at > static_cast<double>(end)) continue;
        const double slope = static_cast<double>(after - before) / static_cast<double>(end - begin);
        return {.value = static_cast<double>(before) - slope * static_cast<double>(begin - low), .slope = slope};
    }
    return flat;
}

double value_at(const Line& line, Coord low, double at) { return line.value + line.slope * (at - static_cast<double>(low)); }

std::size_t most_of(const std::vector<std::size_t>& columns, std::size_t most) {
    for (const std::size_t column : columns) most = std::max(most, column + 1);
    return most;
}

}  // namespace

void CrowdLines::add(std::size_t pool, std::vector<std::size_t> columns, std::vector<double> votes, std::vector<Coord> steps) {
    pools_ = std::max(pools_, pool + 1), columns_ = most_of(columns, columns_);
    crowds_.push_back({.pool = pool, .columns = std::move(columns), .votes = std::move(votes), .steps = std::move(steps)});
}

std::vector<Line> CrowdLines::lines(const Ranges& ranges, const std::vector<double>& at, std::size_t begin) const {
    std::vector<Line> found;
    for (std::size_t i = begin; i < crowds_.size(); ++i) found.push_back(line_above(crowds_[i].steps, ranges[crowds_[i].pool], at[crowds_[i].pool]));
    return found;
}

std::vector<BrokenLine> CrowdLines::broken(const std::vector<double>& shares, const Ranges& ranges, const std::vector<double>& at, double least) const {
    std::vector<BrokenLine> found;
    for (std::size_t number = 0; number < crowds_.size(); ++number) {
        const Crowd& crowd = crowds_[number];
        const Line line = line_above(crowd.steps, ranges[crowd.pool], at[crowd.pool]);
        const double allowed = value_at(line, ranges[crowd.pool].first, at[crowd.pool]);
        double inside = 0;
        for (std::size_t i = 0; i < crowd.columns.size(); ++i) inside += shares[crowd.columns[i]] * crowd.votes[i];
        if (inside - allowed > least * std::max(allowed, 1.0)) found.push_back({.number = number, .line = line});
    }
    return found;
}

DividedRows::DividedRows(std::vector<DividedRow>&& rows) : rows_(std::move(rows)) {
    for (const DividedRow& row : rows_) pools_ = std::max(pools_, row.pool + 1), columns_ = most_of(row.columns, columns_);
}

std::vector<BrokenCover> DividedRows::covers(const std::vector<double>& shares, const Ranges& ranges, const std::vector<double>& at,
                                             const std::vector<Coord>& tops, const std::vector<std::vector<Coord>>& rooms, double least) const {
    std::vector<BrokenCover> found;
    std::vector<double> there;
    for (std::size_t number = 0; number < rows_.size(); ++number) {
        const DividedRow& row = rows_[number];
        Coord total = 0;
        there.clear();
        for (std::size_t i = 0; i < row.columns.size(); ++i) {
            there.push_back(shares[row.columns[i]]);
            if (there.back() > kWhole) total += row.units[i];
        }
        if (total <= tops[row.pool] - row.base) continue;  // all that is there in part is below the peak
        for (const Coord room : rooms[row.pool]) {
            for (Cover& cover : lifted_covers(row.units, there, room - row.base)) {
                for (Coord& step : cover.least) step += row.base;
                const Line line = line_above(cover.least, ranges[row.pool], at[row.pool]);
                const double allowed = value_at(line, ranges[row.pool].first, at[row.pool]);
                double inside = 0;
                for (const auto& [place, votes] : cover.votes) inside += there[static_cast<std::size_t>(place)] * static_cast<double>(votes);
                const double excess = (inside - allowed) / std::max(allowed, 1.0);
                if (excess > least) found.push_back({.row = number, .excess = excess, .cover = std::move(cover)});
            }
        }
    }
    return found;
}

}  // namespace memplan
