#include "shared/places.hpp"

#include <algorithm>

namespace memplan {

namespace {

constexpr std::size_t kManyEdges = 32;  // from this many on, radix sort is used

Coord over(Coord x, const Span& span) {
    const Coord rest = (x - span.residue) % span.modulus;
    return rest < 0 ? rest + span.modulus : rest;
}

// Above the highest base the exact result does not matter, as long as nothing overflows.
Coord up(Coord x, const Span& span) {
    const Coord rest = span.modulus == 1 || x > span.highest ? 0 : over(x, span);
    if (rest == 0) return x;
    const Coord pad = span.modulus - rest;
    return pad > span.highest - x ? span.highest + 1 : x + pad;
}

Coord down(Coord x, const Span& span) { return span.modulus == 1 ? x : x - over(x, span); }

}  // namespace

std::optional<Place> Places::best(const std::vector<Closed>& closed, const Span& span, Random& random) {
    sort_edges(closed, &Closed::low, begins_);
    sort_edges(closed, &Closed::high, ends_);
    const std::size_t count = closed.size();
    Choice choice;
    sweep(count + 1, [&](std::size_t i) { return i == 0 ? span.lowest : up(ends_[i - 1].at, span); }, span, choice, random);
    // If a block can rest on another for free, hanging below one is no better.
    if (!choice.place || choice.place->price > 0) {
        sweep(count + 1, [&](std::size_t i) { return i == count ? span.highest : down(begins_[i].at, span); }, span, choice, random);
    }
    return choice.place;
}

void Places::sort_edges(const std::vector<Closed>& closed, Coord Closed::*side, std::vector<Edge>& edges) {
    Coord least = 0;
    for (const Closed& one : closed) least = std::min(least, one.*side);
    keys_.resize(closed.size());
    for (std::size_t i = 0; i < closed.size(); ++i) {
        keys_[i] = {static_cast<std::uint64_t>(closed[i].*side) - static_cast<std::uint64_t>(least), static_cast<std::uint32_t>(i)};
    }
    if (closed.size() >= kManyEdges) {
        radix_sort(keys_);
    } else {
        std::sort(keys_.begin(), keys_.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
    }
    edges.resize(closed.size());
    for (std::size_t i = 0; i < closed.size(); ++i) {
        const Closed& one = closed[keys_[i].item];
        edges[i] = {one.*side, one.stays ? 0 : one.price, one.stays};
    }
}

template <typename Candidate>
void Places::sweep(std::size_t count, Candidate candidate, const Span& span, Choice& choice, Random& random) const {
    std::size_t begun = 0, ended = 0;
    Coord price = 0;
    std::int64_t staying = 0;
    std::optional<Coord> previous;
    for (std::size_t i = 0; i < count; ++i) {
        const Coord base = candidate(i);
        if (base < span.lowest || base > span.highest || base == previous) continue;
        previous = base;
        for (; begun < begins_.size() && begins_[begun].at < base; ++begun) price += begins_[begun].price, staying += begins_[begun].stays;
        for (; ended < ends_.size() && ends_[ended].at <= base; ++ended) price -= ends_[ended].price, staying -= ends_[ended].stays;
        if (staying > 0) continue;
        const bool cheaper = !choice.place || price < choice.place->price;
        if (price == 0) {
            const Coord room = (begun < begins_.size() ? begins_[begun].at : span.highest) - base;
            if (cheaper || room < choice.room) choice = {Place{base, 0}, room, 1};
        } else if (cheaper) {
            choice = {Place{base, price}, 0, 1};
        } else if (price == choice.place->price && random.next() % ++choice.ties == 0) {
            choice.place->base = base;
        }
    }
}

}  // namespace memplan
