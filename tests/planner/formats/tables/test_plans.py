"""A plan of another problem is refused by every format that is written from both."""

from __future__ import annotations

import pytest

import planner
from planner import Buffer, Options, Pool, Problem
from planner.formats.tables.plans import PLAN_FORMATS, USUAL
from planner.model.errors import BadInput

LIVE = ((0, 1),)
ONE = Problem((Buffer("a", 8, live=LIVE),))
OTHERS = (Problem((Buffer("b", 8, live=LIVE),)), Problem(ONE.buffers, (Pool("other"),)), Problem(()))


@pytest.mark.parametrize("name", [name for name, row in PLAN_FORMATS.items() if row.read_as is not None])
@pytest.mark.parametrize(("source", "which"), [(b"", "empty"), (planner.write_problem(ONE), "memplan/1 JSON")])
def test_a_plan_for_a_model_is_not_written_without_it(name: str, source: bytes, which: str) -> None:
    wanted = f"is written from TensorFlow Lite models only, and this is {which}: give the model's file"
    with pytest.raises(BadInput, match=wanted):
        PLAN_FORMATS[name].write(ONE, planner.plan(ONE), source)


@pytest.mark.parametrize("name", [name for name in PLAN_FORMATS if name != USUAL])
def test_a_plan_of_another_problem_is_refused(name: str) -> None:
    plan = planner.plan(ONE, Options(solver="greedy"))
    for other in OTHERS:
        with pytest.raises(BadInput, match=r"the plan (does not|places)"):
            PLAN_FORMATS[name].write(other, plan, b"")
