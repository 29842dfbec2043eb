"""The least total of a small problem, found by trying every way to share, and problems for it: random and hard ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import lcm

from hypothesis import assume
from hypothesis import strategies as st

from planner.checks import check
from planner.model.problem import (
    Buffer,
    BufferId,
    Colocation,
    Constraints,
    Fixed,
    Lifetimes,
    Pool,
    Problem,
)
from tests.small.strategies import IDS, lives


def least_total(problem: Problem) -> int | None:
    """Return the least total size of the objects, found by trying every way to share; None if nothing fits."""
    totals = [sum(sums.values()) for objects in ways(problem) if fits(problem, sums := sizes(problem, objects))]
    return min(totals, default=None)


def ways(problem: Problem) -> Iterator[list[list[Buffer]]]:
    """Yield every way to divide the buffers among objects."""

    def place(left: tuple[Buffer, ...], objects: list[list[Buffer]]) -> Iterator[list[list[Buffer]]]:
        if not left:
            if together(problem, objects):
                yield objects
            return
        first, *rest = left
        for i, users in enumerate(objects):
            if all(may_share(problem, first, other) for other in users):
                yield from place(tuple(rest), [*objects[:i], [*users, first], *objects[i + 1 :]])
        yield from place(tuple(rest), [*objects, [first]])

    yield from place(tuple(problem.buffers), [])


def may_share(problem: Problem, a: Buffer, b: Buffer) -> bool:
    if (home(problem, a), a.device, a.dtype) != (home(problem, b), b.device, b.dtype):
        return False
    if not a.size or not b.size:
        return True
    pair = {(a.id, b.id), (b.id, a.id)}
    if pair & set(problem.constraints.conflicts):
        return False
    if pair & set(problem.constraints.exclusions) or tied(problem, a.id, b.id):
        return True
    return not any(max(s, t) < min(e, f) for s, e in a.live or () for t, f in b.live or ())


def tied(problem: Problem, a: BufferId, b: BufferId) -> bool:
    """True if colocations connect the two buffers."""
    near = {a}
    for _ in problem.buffers:
        near |= {c.buffer for c in problem.constraints.colocations if c.base in near}
        near |= {c.base for c in problem.constraints.colocations if c.buffer in near}
    return b in near


def together(problem: Problem, objects: list[list[Buffer]]) -> bool:
    where = {buffer.id: i for i, users in enumerate(objects) for buffer in users}
    return all(where[c.buffer] == where[c.base] for c in problem.constraints.colocations)


def sizes(problem: Problem, objects: list[list[Buffer]]) -> dict[str, int]:
    """Return the total size of the objects in each pool."""
    sums = {pool.name: 0 for pool in problem.pools}
    for users in objects:
        pool = home(problem, users[0])
        sums[pool.name] += max(
            -(-b.size // lcm(pool.alignment, b.alignment)) * lcm(pool.alignment, b.alignment) for b in users
        )
    return sums


def fits(problem: Problem, sums: dict[str, int]) -> bool:
    return all(pool.size is None or sums[pool.name] <= pool.size for pool in problem.pools)


def home(problem: Problem, buffer: Buffer) -> Pool:
    names = buffer.pools or ((buffer.fixed.pool,) if buffer.fixed is not None else (problem.pools[0].name,))
    return next(pool for pool in problem.pools if pool.name == names[0])


@st.composite
def sharable(draw: st.DrawFn, most: int = 6, plain: bool = False) -> Problem:
    """Draw a sound problem of shared objects, perhaps infeasible; a plain one has only sizes and single lifetimes."""
    count = draw(st.integers(0, most))
    if plain:
        spans = [draw(st.tuples(st.integers(0, 6), st.integers(1, 4))) for _ in range(count)]
        rows = tuple(
            Buffer(id_, draw(st.integers(1, 9)), live=((s, s + n),)) for id_, (s, n) in zip(IDS, spans, strict=False)
        )
        return Problem(rows, lifetimes=Lifetimes.HALF_OPEN)
    pools = tuple(
        Pool(name, draw(st.none() | st.integers(0, 40)), draw(st.sampled_from((1, 1, 2, 3))))
        for name in ("p", "q")[: draw(st.integers(1, 2))]
    )
    devices = draw(st.sampled_from(((None,), ("cpu",), ("cpu", "gpu"))))
    dtypes = draw(st.sampled_from(((None,), (None, "f32"))))
    buffers = []
    for id_ in IDS[:count]:
        pool = draw(st.sampled_from(pools)).name
        pinned = draw(st.booleans())
        buffers.append(
            Buffer(
                id_,
                draw(st.integers(0, 9)),
                draw(st.sampled_from((1, 1, 1, 2, 4))),
                draw(lives()),
                pools=None if pinned else (pool,),
                fixed=Fixed(pool) if pinned else None,
                device=draw(st.sampled_from(devices)),
                dtype=draw(st.sampled_from(dtypes)),
            )
        )
    pairs = [(a.id, b.id) for n, a in enumerate(buffers) for b in buffers[n + 1 :]]
    conflicts: list[tuple[BufferId, BufferId]] = []
    exclusions: list[tuple[BufferId, BufferId]] = []
    if draw(st.booleans()) and pairs:
        conflicts = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=4))
    if draw(st.booleans()) and pairs:
        drawn = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=4))
        exclusions = [pair for pair in drawn if pair not in conflicts]
    alike = [
        Colocation(b.id, a.id, 0)
        for n, a in enumerate(buffers)
        for b in buffers[n + 1 :]
        if (a.device, a.dtype) == (b.device, b.dtype) and (a.pools or a.fixed) == (b.pools or b.fixed)
    ]
    ties: list[Colocation] = []
    if draw(st.booleans()) and alike:
        ties = draw(st.lists(st.sampled_from(alike), unique=True, max_size=2))
    problem = Problem(
        tuple(buffers),
        pools,
        Constraints(tuple(conflicts), tuple(exclusions), tuple(ties)),
        lifetimes=Lifetimes.HALF_OPEN,
    )
    assume(not check(problem))
    return problem


def tangle(seed: int) -> Problem:
    """Return a problem of random buffers with one live interval each."""
    rng = random.Random(seed)
    count = rng.choice((14, 20, 30))
    rows = [(rng.randrange(20), rng.randrange(1, 9), rng.randrange(1, 20)) for _ in range(count)]
    return Problem(tuple(Buffer(i, size, live=((at, at + length),)) for i, (at, length, size) in enumerate(rows)))


PROVED_BY_SEARCH = tangle(3)
"""Greedy finds the least total, 73, but without a search the bound is 72."""
FOUND_BY_SEARCH = tangle(161)
"""Greedy finds 120, but the least total is 118; without a search the bound is 116."""
