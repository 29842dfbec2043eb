"""From a MILP solver's values to an exact placement. Only pools and sides are read from them, never offsets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..geometry.order import best_of, place, rules_from_offsets, rules_from_sides
from ..geometry.separation import Separations, separations
from ..model.instance import Ints, Placement
from .build import Model


def read_placement(model: Model, values: Mapping[str, float]) -> Placement | None:
    """The best exact placement that the values suggest, or None if what they suggest is impossible.

    Sides are read once from the binaries and once from the offsets' order: where tolerances blur one, the other often holds.
    """
    program = model.program
    # A variable that no row mentions is not in the model file: any value within its bounds is right.
    values = {name: values.get(name, variable.lowBound) for name, (variable, _) in program.value_of.items()}
    pool = _pools(model, values)
    offset = np.array([values[v.name] * program.unit for v in program.offset], dtype=np.float64)
    by_offset = (
        offset[model.choices.second] - offset[model.choices.first] > (model.choices.below + model.choices.above) / 2
    )
    by_binary = by_offset.copy()
    for index, _, _, over, under in program.sides:
        if over is None or under is None:
            by_binary[index] = over is not None and values[over.name] > 0.5
            if over is None:
                by_binary[index] = under is None or values[under.name] <= 0.5
        elif (values[over.name] > 0.5) != (values[under.name] > 0.5):
            by_binary[index] = values[over.name] > 0.5
    priced = _priced_rules(model, values, pool, offset)
    return best_of(
        program.instance,
        [
            place(program.instance, pool, np.concatenate([rules_from_sides(model.choices, pool, sides), priced]))
            for sides in (by_binary, by_offset)
        ],
    )


def _pools(model: Model, values: Mapping[str, float]) -> Ints:
    program = model.program
    chosen = []
    for block, homes in enumerate(program.ranges.homes):
        if len(homes) == 1:
            chosen.append(homes[0])
        else:
            chosen.append(max(homes, key=lambda pool: values[program.home[block, pool].name]))
    return np.array(chosen, dtype=np.int64)


def _priced_rules(
    model: Model, values: Mapping[str, float], pool: Ints, offset: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> Ints:
    """Priced pairs that the solver keeps apart stay apart."""
    program = model.program
    kept = [row for row, share in program.penalised if values[share.name] <= 0.5]
    choices: Separations = separations(program.instance, program.instance.penalties[kept, :2])
    return rules_from_offsets(choices, pool, offset)
