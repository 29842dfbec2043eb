"""Builds the complete program of an instance, and reads an exact placement from a solver's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ....geometry.order import best_of, place, rules_from_offsets, rules_from_sides
from ....geometry.separation import Separations, separations
from ....model.conflicts import live_pair_count, part_pairs
from ....model.errors import Unsupported
from ....model.instance import Instance, Ints, Placement, Term
from .model import Expression, Names, Program, new_program
from .pairs import add_penalties, add_reserved, add_separations, find_twins
from .ranges import find_ranges
from .stacks import add_stacks
from .terms import add_limits, add_live_rows, expression, is_constant

MOST_BINARIES = 20_000
MOST_LIVE_PAIRS = 200_000
TOLERANCE = 1e-7
"""The tolerance for integers; set in every solver that is run here."""
MOST_CERTAIN = 4_000_000
"""Largest M for which the program stays in whole units: times the tolerance it is below 0.5."""
COARSE = 10_000
"""With a larger M, lengths are divided so that M is about this: model files carry 12 digits, and solvers need 7 decimals."""


@dataclass(frozen=True, slots=True)
class Question:
    """The goal: a term to minimise (None: any solution that fits), under limits on terms."""

    term: Term | None
    limits: Mapping[Term, int] = field(default_factory=dict)
    """Greatest allowed values of terms."""
    least: Mapping[Term, int] = field(default_factory=dict)
    """Proven least values of terms."""
    floors: tuple[int, ...] = ()
    """Proven least peak of each pool."""
    near: Placement | None = None
    """Without a term, the goal is a solution that orders as few pairs as possible otherwise than this placement does."""


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A finished program, with what is needed to read its solutions."""

    program: Program
    question: Question
    choices: Separations
    twins: dict[int, int]
    constant: int
    """Must be added to the objective that the solver reports."""
    settled: bool
    """True if nothing is left to minimise: all solutions are equally good."""

    @property
    def is_certain(self) -> bool:
        """True if a solver's proof can be trusted: the largest M times the tolerance is below half a unit."""
        return self.program.unit == 1 and self.program.largest_constant * TOLERANCE < 0.5


def choices_of(instance: Instance, solver: str) -> Separations:
    """The separations of an instance. Raises Unsupported if a program with a binary for each would be too large."""
    if live_pair_count(instance) + len(instance.conflicts) > MOST_LIVE_PAIRS:
        raise Unsupported(solver, "too large: more than 200 000 pairs of lifetimes overlap")
    choices = separations(instance, part_pairs(instance))
    if len(choices) + len(instance.penalties) > MOST_BINARIES:
        raise Unsupported(solver, f"too large: {len(choices)} pairs to order, {MOST_BINARIES} at most")
    return choices


def build(
    instance: Instance,
    choices: Separations,
    names: Names,
    question: Question,
    *,
    exact: bool = False,
    plain: bool = False,
) -> Model | None:
    """The program for the question; None if the ranges show that there is no solution.

    With `exact`, always in whole units, for people and not for solvers. With `plain`, without redundant rows.
    """
    ranges = find_ranges(instance, question.floors, question.limits)
    if ranges is None:
        return None
    model = _assemble(new_program(instance, ranges, names), choices, question, plain=plain)
    if model is not None and not exact and model.program.largest_constant > MOST_CERTAIN:
        unit = model.program.largest_constant / COARSE
        return _assemble(new_program(instance, ranges, names, unit), choices, question, plain=plain)
    return model


def _assemble(program: Program, choices: Separations, question: Question, *, plain: bool) -> Model | None:
    """Adds pairs and the objective; None if they contradict each other."""
    twins = find_twins(program)
    add_separations(program, choices, twins)
    add_reserved(program)
    if program.instance.weighs_reuse:
        add_penalties(program)
    if not plain and not program.impossible:
        add_live_rows(program)
        add_stacks(program)
    objective: Expression = 0
    constant = 0
    if question.term is not None:
        objective, constant = expression(program, question.term)
    add_limits(program, question.limits, question.least)
    settled = is_constant(objective)
    if settled:
        objective = sum(program.peak) if question.near is None else _reordered(program, question.near)
    program.problem.setObjective(objective + 0)
    return None if program.impossible else Model(program, question, choices, twins, constant, settled)


def _reordered(program: Program, near: Placement) -> Expression:
    """The number of pairs with a choice of order that are not ordered as in the placement."""
    import pulp

    sides = (side for _, _, _, over, under in program.sides for side in (over, under) if side is not None)
    return pulp.lpSum(1 - side if program.value_of[side.name][1](near) else side for side in sides)


def read_placement(model: Model, values: Mapping[str, float]) -> Placement | None:
    """The best exact placement that a solver's values suggest; None if they suggest none that is possible.

    Only pools and sides are read from the values, never offsets. Sides are read once from the binaries and once from the offsets' order: where
    tolerances blur one, the other is often right.
    """
    program = model.program
    # A variable without rows is not in the model file: any value within its bounds is right.
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
    """Rules that keep apart the priced pairs that the solver keeps apart."""
    program = model.program
    kept = [row for row, share in program.penalised if values[share.name] <= 0.5]
    choices: Separations = separations(program.instance, program.instance.penalties[kept, :2])
    return rules_from_offsets(choices, pool, offset)
