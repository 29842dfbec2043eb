#include "shared/fitting.hpp"

#include "search/building/model.hpp"
#include "search/descent.hpp"

namespace memplan {

std::optional<std::vector<Coord>> fitted_below(Coord height, const SearchInput& input, std::uint64_t seed, std::int64_t most_work, std::int64_t& work,
                                               const std::function<bool()>& stopped) {
    DescentOptions options;
    options.bound = height, options.fit = true, options.seed = seed, options.work = most_work * kWorkPerMicrosecond;
    try {
        Patience patience(stopped);
        const std::size_t pairs = input.blocks() * (input.blocks() + 3);  // all there can be: each block takes the room of up to three
        const Model model = build_model(input, pairs, patience);
        DescentResult result = descend(model, options, [&](const DescentResult&, bool) { return stopped(); });
        work += result.work / kWorkPerMicrosecond;
        if (!result.peak) return std::nullopt;
        return std::move(result.offsets);
    } catch (const Interrupted&) {
        return std::nullopt;
    }
}

}  // namespace memplan
