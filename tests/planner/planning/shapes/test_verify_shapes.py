"""The verifier of plans for all shapes finds each fault."""

from __future__ import annotations

from dataclasses import replace

from planner.planning.shapes import (
    Mode,
    ShapesPlan,
    parse,
    plan_shapes,
    verify_shapes,
)
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
        replace(FOUND, pools=()),
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
