#include "gluing/boxes.hpp"

#include <algorithm>

#include "shared/fitting.hpp"

namespace memplan {

std::optional<std::vector<Coord>> placed_below(Coord height, const Forest& forest, std::uint64_t seed, std::int64_t most_work, std::int64_t& work,
                                               const std::function<bool()>& stopped) {
    const std::size_t count = forest.loose().size();
    std::vector<Coord> number, start, end, high, highest;
    const std::vector<Coord> zero(count, 0), one(count, 1);
    for (const Node node : forest.loose()) {
        const Piece& box = forest[node];
        number.push_back(static_cast<Coord>(number.size()));
        start.push_back(box.begin), end.push_back(box.end);
        high.push_back(box.height), highest.push_back(height - box.height);
    }
    SearchInput input;
    input.sections = *std::max_element(end.begin(), end.end());
    input.part_block = number, input.part_low = zero, input.part_high = high;
    input.rect_part = number, input.rect_start = start, input.rect_end = end;
    input.modulus = one, input.residue = zero, input.lowest = zero, input.highest = highest;
    return fitted_below(height, input, seed, most_work, work, stopped);
}

}  // namespace memplan
