#include "gluing/wheels.hpp"

#include <algorithm>

namespace memplan {

namespace {

// The same numbers stand in solvers/kernels/python/gluing.
constexpr std::size_t kMostAtATime = 16;  // of the pieces that begin or end at one time, this many are looked at, and of the corners that they make,
constexpr std::int64_t kLooksAPiece = 2;  // each by so many looks,
constexpr std::int64_t kLooksATime = 4;   // and so many more for all

}  // namespace

// The loose pieces, or their mirror image in time: of a wheel's image the right piece is the left one, and what lies above the middle lies below it.
class Wheels::View {
public:
    View(const Forest& forest, bool mirrored, std::int64_t& work) : forest_(forest), mirrored_(mirrored), work_(work) {}

    bool mirrored() const { return mirrored_; }
    Coord height(Node node) const { return forest_[node].height; }
    std::int32_t begin(Node node) const { return mirrored_ ? -forest_[node].end : forest_[node].begin; }
    std::int32_t end(Node node) const { return mirrored_ ? -forest_[node].begin : forest_[node].end; }

    template <typename Look>
    void beginning(std::int32_t time, const Look& look) const {
        mirrored_ ? each_ending(-time, look) : each_beginning(time, look);
    }

    template <typename Look>
    void ending(std::int32_t time, const Look& look) const {
        mirrored_ ? each_beginning(-time, look) : each_ending(time, look);
    }

private:
    template <typename Look>
    void each_beginning(std::int32_t time, const Look& look) const {
        std::size_t n = 0;
        for (Node node = forest_.beginning_at(time); node != kNoNode && n < kMostAtATime; node = forest_[node].next_begin, ++n) look(node);
        work_ += kLooksATime + kLooksAPiece * static_cast<std::int64_t>(n);
    }

    template <typename Look>
    void each_ending(std::int32_t time, const Look& look) const {
        std::size_t n = 0;
        for (Node node = forest_.ending_at(time); node != kNoNode && n < kMostAtATime; node = forest_[node].next_end, ++n) look(node);
        work_ += kLooksATime + kLooksAPiece * static_cast<std::int64_t>(n);
    }

    const Forest& forest_;
    const bool mirrored_;
    std::int64_t& work_;
};

const std::vector<Parts>& Wheels::with(const Forest& forest, Node node, std::int64_t& work) {
    found_.clear();
    for (const bool mirrored : {false, true}) {
        const View view(forest, mirrored, work);
        corners_.clear();
        find_corners(view, node);
        if (corners_.size() > kMostAtATime) corners_.resize(kMostAtATime);
        for (const Corner& corner : corners_) complete(view, corner);
    }
    work += kLooksAPiece * static_cast<std::int64_t>(found_.size());
    return found_;
}

// Finds the left, the lower and the middle piece of wheels of which this piece is one of the three. A middle piece has no need of the image.
void Wheels::find_corners(const View& view, Node node) {
    const std::int32_t begin = view.begin(node), end = view.end(node);
    some_.clear();
    view.ending(end, [&](Node other) {
        if (view.begin(other) > begin) some_.push_back({view.begin(other), other});
    });
    if (!some_.empty()) {
        std::sort(some_.begin(), some_.end());
        view.beginning(begin, [&](Node left) { at(view.end(left), [&](Node middle) { corners_.push_back({node, left, middle}); }); });
    }
    some_.clear();
    view.beginning(begin, [&](Node other) {
        if (view.end(other) > end) some_.push_back({view.end(other), other});
    });
    if (!some_.empty()) {
        std::sort(some_.begin(), some_.end());
        view.beginning(end, [&](Node middle) { at(view.end(middle), [&](Node below) { corners_.push_back({below, node, middle}); }); });
    }
    if (view.mirrored()) return;
    some_.clear();
    view.ending(end, [&](Node other) {
        if (view.begin(other) < begin) some_.push_back({view.begin(other), other});
    });
    if (!some_.empty()) {
        std::sort(some_.begin(), some_.end());
        view.ending(begin, [&](Node left) { at(view.begin(left), [&](Node below) { corners_.push_back({below, left, node}); }); });
    }
}

// Finds the two other pieces: the upper begins with the middle, the right one when that ends.
void Wheels::complete(const View& view, const Corner& corner) {
    const auto [below, left, middle] = corner;
    if (view.height(left) <= view.height(middle)) return;
    const std::int32_t end = view.end(middle);
    some_.clear();
    view.beginning(view.begin(middle), [&](Node other) {
        if (view.end(other) > end) some_.push_back({view.end(other), other});
    });
    if (some_.empty()) return;
    std::sort(some_.begin(), some_.end());
    const Parts known{below, kNoNode, left, kNoNode, middle};
    view.beginning(end, [&](Node right) {
        if (view.height(right) <= view.height(middle)) return;
        at(view.end(right), [&](Node above) {
            Parts& parts = found_.emplace_back(known);
            parts[1] = right, parts[3] = above;
            if (view.mirrored()) std::swap(parts[0], parts[3]), std::swap(parts[1], parts[2]);
        });
    });
}

template <typename Look>
void Wheels::at(std::int32_t time, const Look& look) const {
    for (auto it = std::lower_bound(some_.begin(), some_.end(), Timed{time, kNoNode}); it != some_.end() && it->first == time; ++it) look(it->second);
}

}  // namespace memplan
