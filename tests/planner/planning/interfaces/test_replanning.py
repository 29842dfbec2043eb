"""Addresses near their limit: what arrays of the earlier plan cannot express is planned afresh."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Buffer, Options, Plan, Pool, Problem, Session, plan, verify
from planner.model.problem import MAX_ADDRESS, Colocation, Constraints, Fixed

OPTIONS = Options(time_limit=None, work_limit=100_000, workers=1)
SMALL = Buffer("small", 8, live=((0, 3),))
HALF, QUARTER = MAX_ADDRESS // 2, MAX_ADDRESS // 4
LARGE = Buffer("large", HALF, live=((4, 6), (8, 9)))

VIEW = Constraints(colocations=(Colocation("small", "large", QUARTER - 8),))


@pytest.mark.parametrize(
    "problem",
    [
        Problem((SMALL, LARGE)),
        Problem((SMALL, replace(LARGE, live=((0, 3),)))),
        Problem((SMALL, replace(LARGE, size=QUARTER)), constraints=VIEW),
        Problem((SMALL, replace(LARGE, size=QUARTER // 2)), (Pool("p", reserved=((HALF, HALF + QUARTER),)),)),
        Problem((SMALL, Buffer("high", 8, live=((0, 3),), fixed=Fixed("p", HALF + QUARTER))), (Pool("p"),)),
    ],
)
def test_variants_near_the_last_address_are_planned_as_afresh(problem: Problem) -> None:
    def figures(made: Plan) -> tuple[object, ...]:
        return made.status, made.peak, made.bound

    session = Session()
    for size in (8, 7, 4):
        variant = replace(problem, buffers=(replace(SMALL, size=size), *problem.buffers[1:]))
        made = session.plan(variant, OPTIONS)
        assert figures(made) == figures(plan(variant, OPTIONS))
        assert not verify(variant, made)
