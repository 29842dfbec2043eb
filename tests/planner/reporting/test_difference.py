"""The differences between two plans."""

from __future__ import annotations

from dataclasses import replace

from planner import Options, plan
from planner.generate import Request, generate
from planner.reporting.difference import difference


def test_moved_new_removed_and_resized_buffers_are_listed() -> None:
    problem = generate("transformer", Request(30, 1))
    before, after = plan(problem), plan(problem, Options(solver="usmp_by_size"))
    old = {place.id: place for place in before.placements}
    moved = {place.id for place in after.placements if place.offset != old[place.id].offset}
    found = difference(before, after)
    assert {change.id for change in found.changes} == moved
    assert found.unchanged == 30 - len(moved)
    assert found.bytes == sum(old[id_].size for id_ in moved)
    assert (found.before, found.after) == (before.peak, after.peak)
    assert found.same_problem
    first, *rest = before.placements
    other = replace(
        before,
        placements=(*rest[1:], replace(rest[0], size=rest[0].size + 1), replace(first, id="new")),
        problem_digest="another",
    )
    kinds = {change.id: change.kind for change in difference(before, other).changes}
    assert kinds == {first.id: "removed", rest[0].id: "resized", "new": "added"}
    assert not difference(before, other).same_problem


def test_a_plan_does_not_differ_from_itself() -> None:
    made = plan(generate("pools", Request(12, 1)))
    found = difference(made, made)
    assert (found.changes, found.bytes, found.unchanged) == ((), 0, 12)
