// Pinwheels among loose pieces: four around a fifth, which no straight cut separates.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gluing/forest.hpp"

namespace memplan {

// Finds wheels whose pieces begin and end where others of them end and begin; their heights may leave some room unused.
class Wheels {
public:
    // The wheels of which this loose piece is part. Valid until the next call.
    const std::vector<Parts>& with(const Forest& forest, Node node, std::int64_t& work);

private:
    struct Corner {
        Node below, left, middle;
    };
    using Timed = std::pair<std::int32_t, Node>;

    class View;
    template <typename Look>
    void at(std::int32_t time, const Look& look) const;
    void find_corners(const View& view, Node node);
    void complete(const View& view, const Corner& corner);

    std::vector<Parts> found_;
    std::vector<Corner> corners_;
    std::vector<Timed> some_;  // pieces by one of their times
};

}  // namespace memplan
