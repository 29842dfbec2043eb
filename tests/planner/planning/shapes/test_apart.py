"""Which buffers must not share addresses in any shape is found without comparing every pair, and is the same."""

from __future__ import annotations

import random

import pytest

from planner import Buffer, Colocation, Constraints, Pool, Problem
from planner.model.errors import CannotSolve
from planner.planning.placing.shared_limits import SharedLimits
from planner.planning.shapes import Mode, plan_shapes, shaped, verify_shapes
from planner.planning.shapes.apart import Apart
from planner.planning.shapes.order import conflicts
from tests.planner.planning.shapes.shaped_problems import OPTIONS, TWO


def random_problem(chance: random.Random) -> Problem:
    count = chance.randrange(2, 9)
    buffers = []
    for i in range(count):
        ends = sorted(chance.sample(range(20), 2 * chance.randrange(1, 3)))
        buffers.append(Buffer(i, chance.randrange(4), live=tuple(zip(ends[::2], ends[1::2], strict=True))))
    pairs = [(i, j) for i in range(count) for j in range(i)]
    excluded, conflicting = chance.sample(pairs, len(pairs) // 4), chance.sample(pairs, len(pairs) // 8)
    tied = [Colocation(1, 0, 0)] if chance.random() < 0.3 else []
    constraints = Constraints(
        exclusions=tuple(pair for pair in excluded if pair not in conflicting),
        conflicts=tuple(pair for pair in conflicting if not tied or {*pair} != {0, 1}),
        colocations=tuple(tied),
    )
    return Problem(tuple(buffers), (Pool("m"),), constraints)


def pair_by_pair(problem: Problem) -> set[tuple[int, int]]:
    c, found = problem.constraints, set()
    tied = {frozenset((0, 1)) for _ in c.colocations}
    excluded = {frozenset(pair) for pair in c.exclusions} | tied
    named = {frozenset(pair) for pair in c.conflicts}
    for i, a in enumerate(problem.buffers):
        for j in range(i + 1, len(problem.buffers)):
            b, pair = problem.buffers[j], frozenset((i, j))
            meet = any(max(s, u) < min(t, v) for s, t in a.live or () for u, v in b.live or ())
            if pair in named or (meet and pair not in excluded):
                found.add((i, j))
    return found


def test_the_pairs_are_those_of_every_pair() -> None:
    chance = random.Random(1)
    for _ in range(300):
        problem = random_problem(chance)
        wanted, apart, count = pair_by_pair(problem), Apart(problem), len(problem.buffers)
        assert {(min(pair), max(pair)) for pair in apart.pairs()} == wanted
        low, pool = [chance.randrange(4) for _ in range(count)], [chance.randrange(2) for _ in range(count)]
        high = [at + buffer.size for at, buffer in zip(low, problem.buffers, strict=True)]
        overlapping = {(i, j) for i, j in wanted if pool[i] == pool[j] and max(low[i], low[j]) < min(high[i], high[j])}
        assert {*apart.overlaps(pool, low, high)} == overlapping


def test_few_pairs_are_examined_where_few_meet() -> None:
    count = 20_000
    buffers = tuple(Buffer(i, 1, live=((i, i + 2),)) for i in range(count))
    apart = Apart(Problem(buffers, (Pool("m"),)))
    assert apart.meetings == count - 1
    assert [*apart.pairs()] == [(i, i + 1) for i in range(count - 1)]


def test_too_many_pairs_are_refused_before_they_are_kept() -> None:
    buffers = tuple(Buffer(i, 1, live=((0, 1),)) for i in range(3_000))
    with pytest.raises(CannotSolve, match="4498500 pairs of buffers are needed together"):
        conflicts(Problem(buffers, (Pool("m"),)))


def test_too_many_buffers_are_refused_for_expressions() -> None:
    buffers = tuple(Buffer(i, 1, live=((i, i + 1),)) for i in range(20_001))
    problem = shaped(Problem(buffers, (Pool("m"),)), {"n": (1, 2)}, {})
    with pytest.raises(CannotSolve, match="there are 20001 buffers, and 20000 are the most"):
        plan_shapes(problem, Mode.EXPRESSIONS, (), OPTIONS)


@pytest.mark.parametrize("mode", [*Mode])
def test_shapes_without_time_have_no_plan_of_their_own(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SharedLimits, "is_overrun", lambda _: True)
    at = [dict.fromkeys(TWO.symbols, value) for value in (1, 2, 3)]
    found = plan_shapes(TWO, mode, at, OPTIONS)
    assert [(row.optimum is None, row.bound == 0) for row in found.rows] == [(False, False), (True, True), (True, True)]
    assert verify_shapes(TWO, found) == ()
