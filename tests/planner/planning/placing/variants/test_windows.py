"""A plan lowered window by window passes the verifier and is no higher than before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.generate import Request, generate
from planner.model.plan import Plan, PlanStatus
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from planner.planning.placing.variants.windows import CLOSE, lowered
from planner.verifying.verify import verify
from solvers.model.solver import Goal

SMALL = Options(workers=1, work_limit=50_000, time_limit=None, goal=Goal.FIT)


def fit(problem: Problem) -> Plan | None:
    return plan(problem, SMALL)


def stacked(problem: Problem) -> Plan:
    """Return a valid plan made without search: each buffer, or colocated group, lies above all earlier ones."""
    return plan(problem, Options(workers=1, solver="exir_naive"))


def shapes() -> list[Problem]:
    random = generate("random", Request(40, 3))
    tied = replace(
        random,
        constraints=Constraints(
            colocations=tuple(Colocation(random.buffers[i].id, random.buffers[i + 1].id, 0) for i in (0, 10, 20))
        ),
    )
    dear = replace(random, pools=(Pool("dear", cost=3),))
    return [random, tied, dear]


@pytest.mark.parametrize("problem", shapes())
def test_a_bad_plan_becomes_a_good_one(problem: Problem) -> None:
    made = stacked(problem)
    found = lowered(problem, made, fit)
    best = plan(problem, Options(workers=1))
    assert not verify(problem, found)
    assert made.peak is not None
    assert found.peak is not None
    assert best.peak is not None
    assert best.peak <= found.peak < made.peak
    if found.status is PlanStatus.OPTIMAL:
        assert found.peak == best.peak


def test_many_easy_stretches_are_lowered_one_by_one() -> None:
    """Each stretch of time is small and tight, and the first plan is bad in all of them."""
    stretch = generate("packing", Request(12, 1)).buffers
    length = max(end for buffer in stretch for _, end in buffer.live or ())
    buffers = tuple(
        replace(
            buffer, id=f"{k}.{buffer.id}", live=tuple((s + k * length, e + k * length) for s, e in buffer.live or ())
        )
        for k in range(8)
        for buffer in stretch
    )
    problem = Problem(buffers)
    found = lowered(problem, stacked(problem), fit)
    best = plan(Problem(tuple(buffers[: len(stretch)])), Options(workers=1)).peak
    assert found.peak is not None
    assert best is not None
    assert best <= found.peak <= best + best // CLOSE
    assert not verify(problem, found)


def test_a_plan_that_cannot_be_lowered_stays() -> None:
    problem = generate("random", Request(30, 3))
    made = stacked(problem)
    assert lowered(problem, made, lambda _: None) is made
    best = plan(problem, Options(workers=1))
    assert lowered(problem, best, fit) is best
    pair = Problem((Buffer("a", 3), Buffer("b", 4)), constraints=Constraints(conflicts=(("a", "b"),)))
    apart = stacked(pair)
    assert lowered(pair, apart, fit) is apart


def test_no_more_windows_are_tried_once_no_work_is_left() -> None:
    problem = generate("random", Request(300, 3))
    made = stacked(problem)
    asked: list[Problem] = []
    assert lowered(problem, made, asked.append) == made
    assert len(asked) == 1
