"""The verifier of plans for all shapes finds each fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from planner import BadInput, Buffer, Constraints, PlanStatus, Pool, Problem
from planner.checks.arguments import checked
from planner.planning.shapes import (
    Mode,
    ShapesPlan,
    parse,
    plan_shapes,
    shaped,
    verify_shapes,
)
from solvers.model.errors import StopReason
from tests.planner.planning.shapes.shaped_problems import OPTIONS, TWO

FOUND = plan_shapes(TWO, Mode.EXPRESSIONS, (), OPTIONS)


def changed(number: int, **fields: object) -> ShapesPlan:
    behind = list(FOUND.behind)
    behind[number] = replace(behind[number], **fields)  # type: ignore[arg-type]
    return replace(FOUND, behind=tuple(behind))


def test_the_verifier_sees_each_fault() -> None:
    assert verify_shapes(TWO, FOUND) == ()
    top = next(i for i, each in enumerate(FOUND.behind) if each.after)
    faulty = [
        changed(top, after=()),
        changed(top, offset=parse("1", ())),
        changed(top, size=parse("1", ())),
        changed(top, pool="elsewhere"),
        changed(top, after=("a", "nobody")),
        changed(1, alignment=5),
        replace(FOUND, behind=FOUND.behind[1:]),
        replace(FOUND, behind=FOUND.behind[::-1]),
        replace(FOUND, problem_digest="0" * 64),
        replace(FOUND, symbols={"n": (1, 99)}),
        replace(FOUND, rows=(replace(FOUND.rows[0], used=1),)),
        replace(FOUND, rows=(replace(FOUND.rows[0], values={"n": 101}),)),
        replace(FOUND, pools=(replace(FOUND.pools[0], peak=parse("3*n", ("n",))),)),
        replace(FOUND, rows=(replace(FOUND.rows[0], bound=FOUND.rows[0].used + 1, optimum=None),)),
        replace(FOUND, rows=(replace(FOUND.rows[0], bound=0, optimum=1),)),
        replace(FOUND, rows=(replace(FOUND.rows[0], optimum=FOUND.rows[0].used + 1),)),
        replace(FOUND, pools=()),
        replace(FOUND, pools=(replace(FOUND.pools[0], peak=parse("999*n", ("n",))),)),
        replace(FOUND, pools=(replace(FOUND.pools[0], exact=False),)),
    ]
    for each in faulty:
        assert verify_shapes(TWO, each) != ()


def test_the_verifier_sees_faults_of_fixed_offsets() -> None:
    found = plan_shapes(TWO, Mode.MAXIMUM, (), OPTIONS)
    assert found.plan is not None
    moved = tuple(replace(p, offset=0) for p in found.plan.placements)
    smaller = tuple(replace(p, size=p.size - 1) for p in found.plan.placements)
    for placements in (moved, smaller, moved[1:]):
        assert verify_shapes(TWO, replace(found, plan=replace(found.plan, placements=placements))) != ()


SOMETIMES_EMPTY = shaped(
    Problem(
        (
            Buffer("a", 0, live=((0, 2),), pools=("fast",)),
            Buffer("b", 0, live=((0, 2),), max_offset=3),
            Buffer("c", 8, live=((0, 2),)),
        ),
        (Pool("slow"), Pool("fast", 64, rank=1)),
        Constraints(same_pool=(("a", "b"),)),
    ),
    {"n": (0, 4)},
    {"a": "n", "b": "4 - n"},
)


@pytest.mark.parametrize("shapes", [({"n": 1}, {"n": 3}), ({"n": 0}, {"n": 4})])
def test_the_verifier_sees_faults_of_offsets_for_a_list_of_shapes(shapes: Sequence[dict[str, int]]) -> None:
    found = plan_shapes(SOMETIMES_EMPTY, Mode.BUCKETS, shapes, OPTIONS)
    assert verify_shapes(SOMETIMES_EMPTY, found) == ()
    made = found.plan
    assert made is not None
    a, b, c = made.placements
    faulty = [
        *(replace(made, placements=(replace(a, pool=pool), b, c)) for pool in ("slow", "nowhere")),
        replace(made, placements=(a, replace(b, offset=40), c)),
        replace(made, placements=(replace(a, size=a.size + 1), b, c)),
        replace(made, peak=1),
        replace(made, objective=replace(made.objective, value=1)),
        replace(made, problem_digest="0" * 64),
        replace(made, bound=(made.peak or 0) + 1),
        replace(made, gap=0.5),
        replace(made, objective=replace(made.objective, bound=1)),
        replace(made, pools=tuple(replace(use, bound=(use.peak or 0) + 1) for use in made.pools)),
        replace(made, stop=StopReason.TIME_LIMIT),
    ]
    assert made.status is PlanStatus.OPTIMAL
    for each in faulty:
        assert verify_shapes(SOMETIMES_EMPTY, replace(found, plan=each)) != ()
    assert verify_shapes(SOMETIMES_EMPTY, replace(found, rows=())) != ()
    open_ = replace(made, status=PlanStatus.FEASIBLE, stop=StopReason.WORK_LIMIT)
    assert verify_shapes(SOMETIMES_EMPTY, replace(found, plan=open_, exact=True)) != ()


def test_a_number_and_the_same_digits_as_text_are_two_buffers() -> None:
    problem = shaped(Problem((Buffer(1, 0, live=((0, 1),)), Buffer("1", 4, live=((0, 1),)))), {"n": (1, 2)}, {1: "n"})
    found = plan_shapes(problem, Mode.EXPRESSIONS, (), OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert verify_shapes(problem, replace(found, behind=(found.behind[0],) * 2)) != ()


def test_a_simple_plan_of_one_shape_refutes_a_bound_of_it() -> None:
    """With room for the largest sizes 18 bytes are taken where n is 1 or where it is 9; each shape by itself needs 10."""
    buffers = (Buffer("a", 8, live=((0, 2),)), Buffer("b", 8, live=((1, 3),)))
    problem = shaped(Problem(buffers, (Pool("p"),)), {"n": (1, 9)}, {"a": "n", "b": "10-n"})
    found = plan_shapes(problem, Mode.MAXIMUM, ({"n": 1}, {"n": 9}), OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert sorted(row.used for row in found.rows) == [10, 18]
    forged = tuple(replace(row, bound=row.used, optimum=row.used) for row in found.rows)
    assert verify_shapes(problem, replace(found, rows=forged)) != ()


def test_a_simple_plan_refutes_the_bound_of_offsets_for_a_list_with_empty_buffers() -> None:
    buffers = tuple(Buffer(name, 8, live=((0, 2),)) for name in "ab")
    problem = shaped(Problem(buffers, (Pool("p"),)), {"n": (0, 9)}, {"a": "n", "b": "9"})
    found = plan_shapes(problem, Mode.BUCKETS, ({"n": 0}, {"n": 9}), OPTIONS)
    assert verify_shapes(problem, found) == ()
    plan = found.plan
    assert plan is not None
    raised = replace(found, plan=replace(plan, bound=19))
    assert "with the largest sizes, the bound is 19, but a plan takes 18" in verify_shapes(problem, raised)


def test_numbers_of_numpy_in_the_problem_are_refused_with_the_place() -> None:
    pool = replace(TWO.largest.pools[0], alignment=np.int64(4))  # type: ignore[arg-type]
    odd = replace(TWO, largest=replace(TWO.largest, pools=(pool,)))
    with pytest.raises(BadInput, match=r"^/pools/0/alignment: must be an integer, not int64"):
        checked(verify_shapes)(odd, FOUND)


@pytest.mark.parametrize(
    "size",
    [
        "n*min(max(2, n), 20)",
        "n*max(0, 16-max(n, 2*m))",
        "2*m*min(max(0, m-max(m, n)), 8)",
        "ceildiv(n*max(0, min(n, m, 42)-1), 8)",
    ],
)
def test_sizes_with_a_maximum_within_a_minimum_and_a_factor_are_verified(size: str) -> None:
    """What is claimed was once written with the factor before the inner maximum, and read with the factor within it."""
    problem = shaped(
        Problem((Buffer("a", 1, live=((0, 1),)), Buffer("b", 1, live=((0, 1),))), (Pool("p"),)),
        {"n": (0, 50), "m": (1, 51)},
        {"a": size, "b": "n"},
    )
    assert verify_shapes(problem, plan_shapes(problem, Mode.EXPRESSIONS, (), OPTIONS)) == ()
