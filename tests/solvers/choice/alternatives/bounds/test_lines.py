"""What lines and steps say about memory and cost is exact, and prices from another process are checked before they count."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from planner.generate import Request, generate
from planner.planning.placing.variants.choices import lower_choices
from planner.planning.placing.variants.proofs import Proofs
from solvers.choice.alternatives.bounds.lines import Asked, Line, Lines, Prices, Step, read_prices
from solvers.choice.alternatives.bounds.relaxation import Relaxation
from solvers.choice.alternatives.instance import Choices, Load
from solvers.model.errors import SolverFailed

PAIRS = [*product(range(-6, 7), range(13))]
"""Costs and values."""


@pytest.mark.parametrize(
    "line", [Line(2, 3, 17), Line(3, 0, 10), Line(0, 2, 5), Line(5, 1, -4), Step(7, 4), Step(5, None)]
)
def test_lines_and_steps_bound_what_they_allow_as_closely_as_whole_numbers_can(line: Line | Step) -> None:
    if isinstance(line, Line):
        allowed = [(c, v) for c, v in PAIRS if line.memory * v + line.cost * c >= line.least]
    else:
        allowed = [(c, v) for c, v in PAIRS if v > line.within or (line.least is not None and c >= line.least)]
    lines = Lines()
    lines.lines.append(line)
    for most, _ in PAIRS:
        values, costs = [v for c, v in allowed if c <= most], [c for c, v in allowed if v <= most]
        value, cost = lines.least_value(most), lines.least_cost(most)
        assert value is None or value <= min(values, default=99)
        assert cost is None or cost <= min(costs, default=99)
        if value is not None and values and value > 0:
            assert value == min(values)
        if cost is not None and costs and cost > -6:
            assert cost == min(costs)


def test_prices_of_a_linear_program_prove_nearly_the_least() -> None:
    problem = generate("variants", Request(30, 2, parameters={"groups": 10, "alternatives": 3}))
    choices = lower_choices(problem)
    relaxation, proofs = Relaxation(choices), Proofs(problem, choices, for_speed=False)
    free, none = proofs.sweep(1 << 40).step, proofs.sweep(0).step
    assert free is not None
    assert none == Step(0, None)
    for value in (9_000, 12_000, 15_000, 18_000):
        step = proofs.sweep(value).step
        prices, work = relaxation.prices(Asked(True, value), 1_000_000)
        if step is None or step.least is None:
            continue
        assert prices is not None
        assert work > 0
        line = proofs.prove(prices)
        assert line is not None
        least = line.least_cost(value)
        assert least is not None
        assert step.least * 8 // 10 <= least <= step.least
        memory, _ = relaxation.prices(Asked(False, step.least), 1_000_000)
        assert memory is not None
        of_memory = proofs.prove(memory)
        assert of_memory is not None
        assert value * 8 // 10 <= (of_memory.least_value(step.least) or 0) <= value


def test_too_little_work_leads_to_no_prices() -> None:
    choices = lower_choices(generate("variants", Request(30, 2, parameters={"groups": 10, "alternatives": 3})))
    assert Relaxation(choices).prices(Asked(True, 9_000), 10)[0] is None


@pytest.mark.parametrize(
    "fields",
    [
        5,
        [1, 2],
        [1, 2, 3],
        [1, 2, [[0, 0]]],
        [1, -2, []],
        [1, 1.5, []],
        [1, 1 << 62, []],
        [1, 1, [[1, 0, 1]]],
        [1, 1, [[0, 1, 1]]],
        [1, 1, [[0, 0, True]]],
    ],
)
def test_answers_that_are_no_prices_are_refused(fields: Any) -> None:
    choices = Choices(((1, 2),), (Load(1, ()),), (0,))
    assert read_prices([3, 1, [[0, 0, 2]]], choices, "cpsat") == Prices(3, 1, ((0, 0, 2),))
    assert read_prices(None, choices, "cpsat") is None
    with pytest.raises(SolverFailed):
        read_prices(fields, choices, "cpsat")
