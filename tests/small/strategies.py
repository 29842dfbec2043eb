"""Random small problems with every kind of constraint, for hypothesis."""

from __future__ import annotations

import os
from dataclasses import replace
from math import lcm

from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

from planner.checks import check
from planner.model.problem import (
    Buffer,
    BufferId,
    Colocation,
    Constraints,
    Fixed,
    Interval,
    Lifetimes,
    Pair,
    Pool,
    Problem,
    ReusePenalty,
    Speed,
    Was,
)
from solvers.model.instance import Term
from tests.small.oracle import MOVES

NIGHTLY = os.environ.get("MEMPLAN_NIGHTLY") == "1" or settings.get_current_profile_name() == "nightly"
BRIEF = settings.get_current_profile_name() == "brief"
ALIGNMENTS = (1, 1, 1, 2, 3, 4, 6)
IDS: tuple[BufferId, ...] = ("a", 1, "1", "d", 5, "f")


def effort(normal: int, nightly: int) -> settings:
    """The number of examples: the same ones every day, new ones at night (MEMPLAN_NIGHTLY=1), a tenth with --brief."""
    usual = max(1, normal // 10) if BRIEF else normal
    return settings(
        max_examples=nightly if NIGHTLY else usual,
        derandomize=not NIGHTLY,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


SPEEDS = st.builds(
    Speed,
    clock_frequency_hz=st.sampled_from((1_000_000_000, 333_000_000, 7 * 10**11)),
    read_bandwidth_bytes_per_cycle=st.integers(1, 8),
    write_bandwidth_bytes_per_cycle=st.integers(1, 3),
    read_latency_cycles=st.integers(0, 4),
    write_latency_cycles=st.integers(0, 2),
    target_burst_bytes=st.sampled_from((1, 2, 3, 8)),
)


@st.composite
def pools(draw: st.DrawFn, name: str) -> Pool:
    """A pool, often small, sometimes unlimited, with a base address, or with reserved ranges."""
    alignment = draw(st.sampled_from(ALIGNMENTS))
    base = draw(st.none() | st.integers(0, 5))
    holes = draw(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 3)), max_size=2)) if draw(st.booleans()) else []
    return Pool(
        name,
        size=draw(st.none() | st.integers(0, 30)),
        alignment=alignment,
        base=None if base is None else base * alignment,
        reserved=tuple((start, start + length) for start, length in holes),
        cost=draw(st.sampled_from((1, 1, 1, 2, 3, 0))),
        rank=draw(st.integers(0, 2)),
    )


@st.composite
def lives(draw: st.DrawFn) -> tuple[Interval, ...] | None:
    """A buffer's live intervals: one, two, an empty one, or no list at all."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return None
    spans = draw(st.lists(st.tuples(st.integers(-2, 6), st.integers(1, 4)), min_size=1, max_size=1 + (kind < 3)))
    return tuple((start, start + (0 if kind == 1 else length)) for start, length in spans)


@st.composite
def buffers(draw: st.DrawFn, id_: BufferId, among: tuple[Pool, ...]) -> Buffer:
    """A buffer with some of the fields that a buffer may have."""
    alignment = draw(st.sampled_from(ALIGNMENTS))
    names = [pool.name for pool in among]
    chance = draw(st.integers(0, 4095))  # its bits decide which special fields the buffer has; 0 means none
    allowed = fixed = None
    if chance & 3 == 1:
        allowed = tuple(draw(st.lists(st.sampled_from(names), min_size=1, unique=True)))
    if chance >> 2 & 7 == 1:
        pool = draw(st.sampled_from([p for p in among if allowed is None or p.name in allowed]))
        step = lcm(pool.alignment, alignment)
        turn = draw(st.none() | st.integers(0, 2))
        fixed = Fixed(pool.name, None if turn is None else -(pool.base or 0) % step + turn * step)
    return Buffer(
        id_,
        size=draw(st.integers(0, 6)),
        alignment=alignment,
        live=draw(lives()),
        pools=allowed,
        fixed=fixed,
        hint=draw(st.integers(0, 8)) if chance >> 5 & 3 == 1 else None,
        max_offset=draw(st.integers(0, 16)) if chance >> 7 & 7 == 1 else None,
        accesses=draw(st.integers(0, 5)),
        reads=draw(st.integers(0, 2)),
        writes=draw(st.integers(0, 2)),
    )


@st.composite
def constraints(draw: st.DrawFn, ids: tuple[BufferId, ...], alignments: dict[BufferId, int]) -> Constraints:
    """A few constraints of each kind; none openly contradicts another on the same pair."""
    pairs: list[Pair] = [(a, b) for n, a in enumerate(ids) for b in ids[n + 1 :]]
    if not pairs:
        return Constraints()
    some = st.lists(st.sampled_from(pairs), unique=True, max_size=4)
    conflicts = draw(some) if draw(st.booleans()) else []
    exclusions = [pair for pair in draw(some) if pair not in conflicts] if draw(st.booleans()) else []
    ties: list[Colocation] = []
    if draw(st.booleans()):
        for n, id_ in enumerate(ids[1:], 1):
            if draw(st.integers(0, 2)) == 0:
                step = alignments[id_] if draw(st.booleans()) else 1
                ties.append(Colocation(id_, draw(st.sampled_from(ids[:n])), step * draw(st.integers(0, 4))))
    same = [draw(st.sampled_from(pairs))] if draw(st.integers(0, 5)) == 1 else []
    different = [draw(st.sampled_from(pairs))] if draw(st.integers(0, 5)) == 1 else []
    penalties = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=2))
    return Constraints(
        tuple(conflicts),
        tuple(exclusions),
        tuple(ties),
        tuple(same),
        tuple(different),
        tuple(ReusePenalty(a, b, draw(st.integers(0, 3))) for a, b in penalties),
    )


def grown(problem: Problem, unit: int, rest: int) -> Problem:
    """Return the problem in multiples of a unit, which capacities and limits hide as they are larger by `rest`."""
    return replace(
        problem,
        pools=tuple(
            replace(
                pool,
                size=None if pool.size is None else pool.size * unit + rest,
                alignment=pool.alignment * unit,
                base=None if pool.base is None else pool.base * unit,
                reserved=tuple((start * unit, end * unit) for start, end in pool.reserved),
            )
            for pool in problem.pools
        ),
        buffers=tuple(
            replace(
                buffer,
                size=buffer.size * unit,
                alignment=buffer.alignment * unit,
                fixed=None if buffer.fixed is None else _moved(buffer.fixed, unit),
                max_offset=None if buffer.max_offset is None else buffer.max_offset * unit + rest,
            )
            for buffer in problem.buffers
        ),
        constraints=replace(
            problem.constraints,
            colocations=tuple(replace(c, offset=c.offset * unit) for c in problem.constraints.colocations),
        ),
        was=tuple(replace(was, offset=was.offset * unit) for was in problem.was),
    )


def _moved(fixed: Fixed, unit: int) -> Fixed:
    return fixed if fixed.offset is None else replace(fixed, offset=fixed.offset * unit)


@st.composite
def problems(
    draw: st.DrawFn, max_buffers: int = 6, max_pools: int = 3, plain_terms: bool = False, moves: bool = False
) -> Problem:
    """A sound problem, which may be infeasible; with `moves`, its objective always counts what moved."""
    chosen = tuple(draw(pools(f"p{n}")) for n in range(draw(st.integers(1, max_pools))))
    if draw(st.integers(0, 3)) == 1:
        chosen = tuple(replace(pool, speed=draw(SPEEDS)) for pool in chosen)
    count = draw(st.sampled_from([n for n in (0, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 6) if n <= max_buffers]))
    ids = IDS[:count]
    pieces = tuple(draw(buffers(id_, chosen)) for id_ in ids)
    ties = draw(constraints(ids, {b.id: b.alignment for b in pieces}))
    terms: tuple[Term, ...] = (Term.SUM_OF_PEAKS,)
    if not plain_terms and draw(st.integers(0, 3)) == 0:
        terms = tuple(draw(st.lists(st.sampled_from(list(Term)), min_size=1, max_size=4, unique=True)))
    if moves:
        counted = draw(st.sampled_from(sorted(MOVES)))
        rest = [term for term in terms if term is not counted]
        terms = (counted, *rest) if draw(st.booleans()) else (*rest, counted)
    price = draw(st.integers(0, 3))
    old: tuple[Was, ...] = ()
    if not MOVES.isdisjoint(terms):
        names = st.sampled_from([pool.name for pool in chosen])
        old = tuple(Was(id_, draw(names), draw(st.integers(0, 12))) for id_ in ids if draw(st.integers(0, 3)))
    problem = Problem(pieces, chosen, ties, terms, lifetimes=Lifetimes.HALF_OPEN, peak_price=price, was=old)
    unit = draw(st.sampled_from((1, 1, 1, 16, 64)))
    if unit > 1:
        problem = grown(problem, unit, draw(st.integers(0, unit - 1)))
    assume(not check(problem))
    return problem
