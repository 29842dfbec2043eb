#include "search/engine.hpp"

#include "search/decision.hpp"
#include "search/general.hpp"
#include "search/plain.hpp"

namespace memplan {

std::unique_ptr<Engine> make_engine(const Model& model) {
    if (!model.plain) return std::make_unique<Decision<GeneralState>>(model);
    // Half as wide where all addresses that can occur leave room for sums of two.
    if (model.ceiling < Coord{1} << 29) return std::make_unique<Decision<PlainState<std::int32_t>>>(model);
    return std::make_unique<Decision<PlainState<Coord>>>(model);
}

}  // namespace memplan
