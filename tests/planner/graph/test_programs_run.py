"""Random programs are planned, then run in the planned memory, through branches and several turns of loops.

The machine knows the program and the plan, but not how the plan was made. Functions are handed the places of their
arguments and results. Each byte carries its origin, and every read checks that it finds the bytes that were written.
Between two runs all bytes but state are lost.
"""

from __future__ import annotations

import random

import pytest

from planner import BadInput, Options, PlanStatus, plan, verify
from planner.graph import (
    Applied,
    GraphOptions,
    program_problem,
)
from planner.model.problem import Pool
from tests.planner.graph.machine import Machine
from tests.planner.graph.random_programs import random_program
from tests.small.strategies import NIGHTLY

RUNS = 20000 if NIGHTLY else 200


def refused_as_written_while_lent(error: BadInput) -> bool:
    return all("written meanwhile" in finding.message for finding in error.findings)


@pytest.mark.parametrize("block", range(10))
def test_planned_programs_compute_what_they_should(block: int) -> None:
    planned = applied = 0
    for seed in range(block, RUNS, 10):
        program = random_program(seed)
        chance = random.Random(seed)
        level = chance.choice((2, 2, 2, 0))
        options = GraphOptions(
            plan_inputs=chance.random() < 0.8,
            plan_outputs=chance.random() < 0.8,
            opt_level=level,
            offset_multiple=chance.choice((1, 4)),
        )
        try:
            found = program_problem(program, (Pool("sram"),), options)
        except BadInput as error:
            if refused_as_written_while_lent(error):
                continue
            raise
        answer = plan(found.problem, Options(solver="greedy", workers=1))
        assert answer.status in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE)
        assert verify(found.problem, answer) == ()
        machine = Machine(program, found, {place.id: (place.pool, place.offset) for place in answer.placements}, chance)
        try:
            for _ in range(3):
                machine.run_entry(chance.choice(program.entries))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        planned += 1
        applied += sum(isinstance(outcome, Applied) and outcome.part is not None for outcome in found.applied)
    assert planned > RUNS / 10 * 0.8
    assert applied > 0
