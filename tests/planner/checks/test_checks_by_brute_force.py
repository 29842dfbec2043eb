"""With room enough for everything, a problem is refused exactly if it has no plan."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import lcm

from hypothesis import given
from hypothesis import strategies as st

from planner.checks import check
from planner.facts.intervals import overlap
from planner.model.errors import Code
from planner.model.problem import (
    DEFAULT_TERMS,
    Buffer,
    Colocation,
    Constraints,
    Fixed,
    Interval,
    Pair,
    Pool,
    Problem,
)
from tests.small.strategies import effort


def placements(whole: Problem, reach: int) -> Iterator[tuple[tuple[str, int], ...]]:
    """Yield every way to give each buffer a pool and an offset below `reach` that its own fields allow."""
    choices = []
    for buffer in whole.buffers:
        mine = []
        for pool in whole.pools:
            if buffer.pools is not None and pool.name not in buffer.pools:
                continue
            if buffer.fixed is not None and buffer.fixed.pool != pool.name:
                continue
            step = lcm(pool.alignment, buffer.alignment)
            for offset in range(reach):
                aligned = ((pool.base or 0) + offset) % step == 0
                meant = buffer.fixed is None or buffer.fixed.offset in (None, offset)
                if aligned and meant and (buffer.max_offset is None or offset <= buffer.max_offset):
                    mine.append((pool.name, offset))
        choices.append(mine)
    yield from product(*choices)


def is_valid(whole: Problem, where: tuple[tuple[str, int], ...]) -> bool:
    index = {buffer.id: i for i, buffer in enumerate(whole.buffers)}
    c = whole.constraints
    for tie in c.colocations:
        (pool, offset), (base_pool, base) = where[index[tie.buffer]], where[index[tie.base]]
        if pool != base_pool or offset != base + tie.offset:
            return False
    for group in c.same_pool:
        if len({where[index[id_]][0] for id_ in group}) > 1:
            return False
    if any(where[index[a]][0] == where[index[b]][0] for group in c.different_pool for a, b in combinations(group, 2)):
        return False
    tied = {frozenset((index[tie.buffer], index[tie.base])) for tie in c.colocations}
    for i, j in combinations(range(len(where)), 2):
        a, b = whole.buffers[i], whole.buffers[j]
        named = {(a.id, b.id), (b.id, a.id)}
        must = bool(named & set(c.conflicts))
        lives = overlap(a.live or (), b.live or ()) and not named & set(c.exclusions) and frozenset((i, j)) not in tied
        if (must or lives) and where[i][0] == where[j][0]:
            (_, low), (_, other) = where[i], where[j]
            if a.size and b.size and low < other + b.size and other < low + a.size:
                return False
    return True


@st.composite
def small_problems(draw: st.DrawFn) -> Problem:
    """Draw a problem of two buffers in unlimited pools: if it has no plan, it contradicts itself."""
    pools = tuple(
        Pool(name, alignment=a, base=draw(st.sampled_from([None, 0, a])))
        for name in draw(st.sampled_from(["p", "pq"]))
        for a in [draw(st.integers(1, 3))]
    )
    names = [pool.name for pool in pools]
    spans: list[tuple[Interval, ...] | None] = [None, ((0, 2),), ((1, 3),), ((2, 4),)]
    buffers = tuple(
        Buffer(
            id_,
            draw(st.integers(0, 3)),
            draw(st.integers(1, 4)),
            draw(st.sampled_from(spans)),
            None,
            draw(st.none() | st.builds(Fixed, st.sampled_from(names), st.none() | st.integers(0, 5))),
        )
        for id_ in "ab"
    )
    pair: st.SearchStrategy[Pair] = st.sampled_from([("a", "b"), ("b", "a")])
    pairs = st.lists(pair, max_size=1).map(tuple)
    ties = st.lists(st.builds(lambda p, d: Colocation(p[0], p[1], d), pair, st.integers(0, 4)), max_size=2).map(tuple)
    return Problem(
        buffers, pools, Constraints(draw(pairs), draw(pairs), draw(ties), draw(pairs), draw(pairs)), DEFAULT_TERMS
    )


@effort(20, 2000)
@given(small_problems())
def test_with_room_enough_a_problem_is_refused_only_if_it_has_no_plan(whole: Problem) -> None:
    codes = {finding.code for finding in check(whole)}
    pair_twice = {frozenset(p) for p in whole.constraints.conflicts} & {
        frozenset(p) for p in whole.constraints.exclusions
    }
    if Code.CYCLIC_COLOCATION in codes or pair_twice:
        return  # such a problem is refused even if some plan satisfies it
    plan_exists = any(is_valid(whole, where) for where in placements(whole, 24))
    if codes:
        assert not plan_exists
    elif len(whole.pools) > 1 or not whole.constraints.different_pool:
        assert plan_exists
