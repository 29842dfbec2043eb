"""The buffers that hold a peak up are those of its stack, from the top down to the floor, and no others."""

from __future__ import annotations

import random
from math import lcm
from typing import Any

import pytest

from planner.model.plan import Placement
from planner.model.problem import Buffer, BufferId, Colocation, Constraints, Fixed, Pool, Problem
from planner.reporting import supports
from planner.reporting.levels import Levels
from planner.reporting.supports import Supports

ARENA = Pool("p")


def ids(problem: Problem, offsets: dict[BufferId, int]) -> list[BufferId]:
    pool = problem.pools[0]
    placements = [Placement(b.id, pool.name, offsets[b.id], b.size) for b in problem.buffers if b.id in offsets]
    return [buffer.id for buffer in Supports(problem, placements).under_the_peak(pool)]


def test_only_the_stack_under_the_highest_buffer_supports_it() -> None:
    buffers = (
        Buffer("floor", 10, live=((0, 2),)),
        Buffer("beside", 9, live=((4, 6),)),
        Buffer("middle", 10, live=((1, 5),)),
        Buffer("top", 10, live=((4, 6),)),
    )
    offsets: dict[BufferId, int] = {"floor": 0, "beside": 0, "middle": 10, "top": 20}
    assert ids(Problem(buffers, (ARENA,)), offsets) == ["top", "middle", "floor"]


def test_floating_buffers_rest_on_nothing() -> None:
    buffers = (Buffer("low", 10, live=((0, 2),)), Buffer("high", 10, live=((0, 2),)))
    assert ids(Problem(buffers, (ARENA,)), {"low": 0, "high": 11}) == ["high"]


@pytest.mark.parametrize(("pool", "buffer"), [(16, 1), (1, 16), (8, 16), (16, 4)])
def test_buffers_kept_apart_by_alignment_rest_on_each_other(pool: int, buffer: int) -> None:
    buffers = (Buffer("low", 10, live=((0, 2),)), Buffer("high", 10, buffer, live=((0, 2),)))
    assert ids(Problem(buffers, (Pool("p", alignment=pool),)), {"low": 0, "high": 16}) == ["high", "low"]


def test_a_buffer_one_grain_higher_than_needed_floats() -> None:
    buffers = (Buffer("low", 16, live=((0, 2),)), Buffer("high", 10, live=((0, 2),)))
    assert ids(Problem(buffers, (Pool("p", alignment=16),)), {"low": 0, "high": 32}) == ["high"]


def test_only_buffers_that_must_be_apart_support_each_other() -> None:
    buffers = (
        Buffer("later", 10, live=((5, 6),)),
        Buffer("never", 10, live=((0, 2),)),
        Buffer("conflicting", 10),
        Buffer("top", 10, live=((0, 2),)),
    )
    constraints = Constraints(conflicts=(("conflicting", "top"),), exclusions=(("never", "top"),))
    problem = Problem(buffers, (ARENA,), constraints)
    assert ids(problem, {"later": 0, "never": 0, "conflicting": 0, "top": 10}) == ["top", "conflicting"]


def test_a_group_rests_on_the_supports_of_its_members() -> None:
    buffers = (
        Buffer("under view", 10, live=((4, 6),)),
        Buffer("base", 20, live=((0, 2),)),
        Buffer("view", 5, live=((4, 5),)),
        Buffer("top", 4, live=((0, 1),)),
    )
    problem = Problem(buffers, (ARENA,), Constraints(colocations=(Colocation("view", "base", 8),)))
    offsets: dict[BufferId, int] = {"under view": 0, "base": 2, "view": 10, "top": 22}
    assert ids(problem, offsets) == ["top", "base", "under view"]


def test_fixed_buffers_rest_on_nothing() -> None:
    buffers = (Buffer("low", 10, live=((0, 2),)), Buffer("pinned", 10, live=((0, 2),), fixed=Fixed("p", 10)))
    assert ids(Problem(buffers, (ARENA,)), {"low": 0, "pinned": 10}) == ["pinned"]
    buffers = (Buffer("low", 10, live=((0, 2),)), Buffer("here", 10, live=((0, 2),), fixed=Fixed("p")))
    assert ids(Problem(buffers, (ARENA,)), {"low": 0, "here": 10}) == ["here", "low"]


def test_without_live_bytes_there_is_no_support() -> None:
    assert ids(Problem((Buffer("a", 0, live=((0, 2),)), Buffer("b", 9)), (ARENA,)), {"a": 5}) == []


@pytest.mark.parametrize("seed", range(40))
def test_supports_agree_with_comparing_all_pairs(seed: int) -> None:
    problem, offsets = thrown(random.Random(seed))
    assert ids(problem, offsets) == by_all_pairs(problem, offsets)


def thrown(dice: random.Random) -> tuple[Problem, dict[BufferId, int]]:
    """Return a problem and random offsets, valid or not.

    Some buffers have two live intervals; some are colocated, excluded, in conflict or fixed.
    """
    buffers, offsets = [], dict[BufferId, int]()
    for i in range(30):
        start = dice.randrange(20)
        live = ((start, start + 1 + dice.randrange(6)), (start + 8, start + 8 + dice.randrange(4)))
        fixed = Fixed("p", 0) if i == 7 else None
        buffers.append(Buffer(i, dice.randrange(6), dice.choice((1, 1, 2, 4)), live=live[: 1 + i % 2], fixed=fixed))
        offsets[i] = dice.randrange(40)
    pairs = [tuple(dice.sample(range(30), 2)) for _ in range(60)]
    ties = tuple(Colocation(i, i - 1, offsets[i] - offsets[i - 1]) for i in (*range(11, 15), 21, 22))
    constraints = Constraints(tuple(pairs[:10]), tuple(pairs[10:]), ties)  # type: ignore[arg-type]
    return Problem(tuple(buffers), (ARENA,), constraints), offsets


def by_all_pairs(problem: Problem, offsets: dict[BufferId, int]) -> list[BufferId]:
    sized = {b.id: b for b in problem.buffers if b.size}
    group: dict[BufferId, set[BufferId]] = {id_: {id_} for id_ in offsets}
    for tie in problem.constraints.colocations:
        joined = group[tie.buffer] | group[tie.base]
        group.update(dict.fromkeys(joined, joined))
    conflicts = {frozenset(pair) for pair in problem.constraints.conflicts}
    excluded = {frozenset(pair) for pair in problem.constraints.exclusions}

    def meet(a: BufferId, b: BufferId) -> bool:
        live = any(max(s, t) < min(e, f) for s, e in sized[a].live or () for t, f in sized[b].live or ())
        return {a, b} in conflicts or ({a, b} not in excluded and live)

    def below(a: BufferId, own: set[BufferId], grain: int) -> set[BufferId]:
        near = {b for b in sized if b not in own and offsets[a] - grain < offsets[b] + sized[b].size <= offsets[a]}
        return {b for b in near if meet(a, b)}

    top = max(offsets[id_] + buffer.size for id_, buffer in sized.items())
    found = {id_ for id_, buffer in sized.items() if offsets[id_] + buffer.size == top}
    while True:
        more = set(found)
        for id_ in found:
            own = group[id_]
            if any(problem.buffers[int(i)].fixed for i in own):
                continue
            grain = lcm(*(problem.buffers[int(i)].alignment for i in own))
            more |= {b for member in own if member in sized for b in below(member, own, grain)}
        if more == found:
            return sorted(found, key=lambda id_: (-offsets[id_], int(id_)))
        found = more


def test_few_levels_are_examined_in_a_wide_range() -> None:
    many = 4000
    levels = Levels([(8 * i, 8 * i + 8, ((i, i + 2),)) for i in range(many)])
    looked = Watched(levels._points)
    levels._points = looked
    assert set(levels.ending(0, 8 * many, ((900, 901),))) == {8 * 899, 8 * 900}
    assert not list(levels.ending(0, 8 * many, ((many + 5, many + 6),)))
    assert looked.looks < 100


def test_levels_that_few_buffers_share_are_found_without_the_tree() -> None:
    many = 4000
    levels = Levels([(i, 8 * i + 8, ((i % 7, many),)) for i in range(many)])
    boxes = Watched(levels._boxes)
    levels._boxes = boxes
    assert [list(levels.ending(8 * i, 8 * i + 8, ((9, 10),))) for i in range(many)] == [[i] for i in range(many)]
    assert not boxes.looks


def test_each_buffer_of_a_stack_is_a_look_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr(supports, "look", looks.append)
    buffers = tuple(Buffer(i, 8, live=((0, 1),)) for i in range(100))
    assert len(ids(Problem(buffers, (ARENA,)), {i: 8 * i for i in range(100)})) == 100
    assert len(looks) > 100


class Watched(list[Any]):
    """A list that counts how often an item is read."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:
        self.looks += 1
        return super().__getitem__(at)
