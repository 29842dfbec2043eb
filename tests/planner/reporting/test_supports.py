"""What holds a peak up: down the stack to the floor, and nothing beside it."""

from __future__ import annotations

import pytest

from planner.model.plan import Placement
from planner.model.problem import Buffer, BufferId, Colocation, Constraints, Fixed, Pool, Problem
from planner.reporting.supports import Supports

ARENA = Pool("p")


def ids(problem: Problem, offsets: dict[BufferId, int]) -> list[BufferId]:
    pool = problem.pools[0]
    placements = [Placement(b.id, pool.name, offsets[b.id], b.size) for b in problem.buffers if b.id in offsets]
    return [buffer.id for buffer in Supports(problem, placements).under_the_peak(pool)]


def test_the_stack_under_the_highest_and_not_what_stands_beside_it() -> None:
    buffers = (
        Buffer("floor", 10, live=((0, 2),)),
        Buffer("beside", 9, live=((4, 6),)),
        Buffer("middle", 10, live=((1, 5),)),
        Buffer("top", 10, live=((4, 6),)),
    )
    offsets: dict[BufferId, int] = {"floor": 0, "beside": 0, "middle": 10, "top": 20}
    assert ids(Problem(buffers, (ARENA,)), offsets) == ["top", "middle", "floor"]


def test_what_floats_rests_on_nothing() -> None:
    buffers = (Buffer("low", 10, live=((0, 2),)), Buffer("high", 10, live=((0, 2),)))
    assert ids(Problem(buffers, (ARENA,)), {"low": 0, "high": 11}) == ["high"]


@pytest.mark.parametrize(("pool", "buffer"), [(16, 1), (1, 16), (8, 16), (16, 4)])
def test_an_alignment_may_keep_it_from_touching(pool: int, buffer: int) -> None:
    buffers = (Buffer("low", 10, live=((0, 2),)), Buffer("high", 10, buffer, live=((0, 2),)))
    assert ids(Problem(buffers, (Pool("p", alignment=pool),)), {"low": 0, "high": 16}) == ["high", "low"]


def test_one_grain_higher_than_needed_is_floating() -> None:
    buffers = (Buffer("low", 16, live=((0, 2),)), Buffer("high", 10, live=((0, 2),)))
    assert ids(Problem(buffers, (Pool("p", alignment=16),)), {"low": 0, "high": 32}) == ["high"]


def test_only_those_that_must_be_apart_hold_each_other() -> None:
    buffers = (
        Buffer("later", 10, live=((5, 6),)),
        Buffer("never", 10, live=((0, 2),)),
        Buffer("told", 10),
        Buffer("top", 10, live=((0, 2),)),
    )
    constraints = Constraints(conflicts=(("told", "top"),), exclusions=(("never", "top"),))
    problem = Problem(buffers, (ARENA,), constraints)
    assert ids(problem, {"later": 0, "never": 0, "told": 0, "top": 10}) == ["top", "told"]


def test_a_group_rests_on_what_any_of_its_members_rests_on() -> None:
    buffers = (
        Buffer("under view", 10, live=((4, 6),)),
        Buffer("base", 20, live=((0, 2),)),
        Buffer("view", 5, live=((4, 5),)),
        Buffer("top", 4, live=((0, 1),)),
    )
    problem = Problem(buffers, (ARENA,), Constraints(colocations=(Colocation("view", "base", 8),)))
    offsets: dict[BufferId, int] = {"under view": 0, "base": 2, "view": 10, "top": 22}
    assert ids(problem, offsets) == ["top", "base", "under view"]


def test_what_is_fixed_rests_on_the_decision() -> None:
    buffers = (Buffer("low", 10, live=((0, 2),)), Buffer("pinned", 10, live=((0, 2),), fixed=Fixed("p", 10)))
    assert ids(Problem(buffers, (ARENA,)), {"low": 0, "pinned": 10}) == ["pinned"]
    buffers = (Buffer("low", 10, live=((0, 2),)), Buffer("here", 10, live=((0, 2),), fixed=Fixed("p")))
    assert ids(Problem(buffers, (ARENA,)), {"low": 0, "here": 10}) == ["here", "low"]


def test_nothing_there() -> None:
    assert ids(Problem((Buffer("a", 0, live=((0, 2),)), Buffer("b", 9)), (ARENA,)), {"a": 5}) == []
