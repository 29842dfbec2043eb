// Crowds of rows whose classes may be divided: lines above what they have room for, and covers that are broken (see solvers/kernels/plain.py).
#pragma once

#include <cstdint>
#include <vector>

#include "plain/divisions.hpp"
#include "plain/lifting.hpp"

namespace memplan {

struct Line {
    double value = 0, slope = 0;  // at the low end of the range, and for each unit from there on
};

struct DividedRow {
    std::size_t pool = 0;
    Coord base = 0;
    std::vector<Coord> units;
    std::vector<std::size_t> columns;
};

struct BrokenLine {
    std::size_t number = 0;
    Line line;
};

struct BrokenCover {
    std::size_t row = 0;
    double excess = 0;
    Cover cover;  // with the row's steps
};

class CrowdLines {
public:
    void add(std::size_t pool, std::vector<std::size_t> columns, std::vector<double> votes, std::vector<Coord> steps);
    std::vector<Line> lines(const Ranges& ranges, const std::vector<double>& at, std::size_t begin) const;
    std::vector<BrokenLine> broken(const std::vector<double>& shares, const Ranges& ranges, const std::vector<double>& at, double least) const;

    std::size_t pools() const { return pools_; }
    std::size_t columns() const { return columns_; }

private:
    struct Crowd {
        std::size_t pool = 0;
        std::vector<std::size_t> columns;
        std::vector<double> votes;
        std::vector<Coord> steps;
    };

    std::vector<Crowd> crowds_;
    std::size_t pools_ = 0, columns_ = 0;  // so many are named at least
};

class DividedRows {
public:
    explicit DividedRows(std::vector<DividedRow>&& rows);
    std::vector<BrokenCover> covers(const std::vector<double>& shares, const Ranges& ranges, const std::vector<double>& at, const std::vector<Coord>& tops,
                                    const std::vector<std::vector<Coord>>& rooms, double least) const;

    std::size_t pools() const { return pools_; }
    std::size_t columns() const { return columns_; }

private:
    std::vector<DividedRow> rows_;
    std::size_t pools_ = 0, columns_ = 0;
};

}  // namespace memplan
