"""Offsets that hold for every shape: an order of the buffers, taken from a plan, and for each the buffers that it lies behind.

Of two buffers that must not share addresses, the upper one in the order lies behind the other's end in every shape. So nothing overlaps in
any shape, as long as no size is negative. Indirect predecessors need not be named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import lcm

from ...model.deadline import PREPARING, in_time
from ...model.errors import CannotSolve, Code, Finding, echo
from ...model.plan import Plan
from ...model.problem import BufferId, Problem
from .answer import Behind, PoolPeak
from .apart import Apart
from .expression import LIMIT, Expression, Values, largest
from .intervals import Box, bounds
from .normal import alternatives, quotient
from .polynomial import (
    Polynomial,
    above_all,
    constant,
    envelope,
    expression,
    is_multiple,
    never_below,
    plus,
)
from .ranges import greatest
from .shaped import ShapedProblem

MOST_BUFFERS = 20_000
"""For each buffer there is a bit for each one below it."""
MOST_PAIRS = 3_000_000
"""The most pairs of buffers that meet in time: each is kept."""
MOST_SUMS = 24
"""The most sums for one offset; beyond, a single sum bounds them all."""

Order = tuple[Sequence[int], Mapping[int, tuple[int, ...]]]
"""Buffers by address, and for each those that it lies behind."""


def require_plain(problem: Problem) -> None:
    """Raise CannotSolve for rules that offsets depending on the shape cannot keep, and for more than fits into memory."""
    if len(problem.buffers) > MOST_BUFFERS:
        raise _too_large(f"there are {len(problem.buffers)} buffers, and {MOST_BUFFERS} are the most")
    for i, buffer in enumerate(problem.buffers):
        if buffer.max_offset is not None:
            raise _refused(f"/buffers/{i}/max_offset", f"buffer {echo(buffer.id)} has a greatest offset")
        if buffer.fixed is not None and buffer.fixed.offset is not None:
            raise _refused(f"/buffers/{i}/fixed", f"buffer {echo(buffer.id)} has a fixed offset")
    if problem.constraints.colocations:
        raise _refused("/constraints/colocations", "there are colocations")
    for p, pool in enumerate(problem.pools):
        if pool.reserved:
            raise _refused(f"/pools/{p}/reserved", f"pool {echo(pool.name)} has reserved ranges")
        if pool.base is None:
            continue
        for buffer in in_time(problem.buffers, PREPARING):
            may_be_there = buffer.pools is None or pool.name in buffer.pools
            if may_be_there and pool.base % buffer.alignment:
                raise _refused(
                    f"/pools/{p}/base", f"the base of pool {echo(pool.name)} is no multiple of {buffer.alignment}"
                )


def _too_large(why: str) -> CannotSolve:
    text = f"{why} for offsets as expressions; use the mode maximum or buckets"
    return CannotSolve(Finding(Code.TOO_LARGE, "/buffers", text))


def _refused(place: str, why: str) -> CannotSolve:
    text = f"{why}: offsets as expressions cannot keep to that; use the mode maximum or buckets"
    return CannotSolve(Finding(Code.UNSUPPORTED, place, text))


def conflicts(problem: Problem) -> list[list[int]]:
    """Return for each buffer those with which it must not share addresses."""
    together = Apart(problem).meetings
    if together > MOST_PAIRS:
        raise _too_large(f"{together} pairs of buffers are needed together, and {MOST_PAIRS} are the most")
    index = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
    apart: list[set[int]] = [set() for _ in problem.buffers]
    events = sorted(
        (time, is_start, i)
        for i, buffer in enumerate(problem.buffers)
        for start, end in buffer.live or ()
        if start < end
        for time, is_start in ((start, True), (end, False))
    )
    live: list[int] = [0] * len(problem.buffers)
    now: set[int] = set()
    for _, is_start, i in in_time(events, PREPARING):
        if is_start:
            for other in now - {i}:
                apart[i].add(other)
                apart[other].add(i)
            now.add(i)
        live[i] += 1 if is_start else -1
        if not live[i]:
            now.discard(i)
    for a, b in problem.constraints.exclusions:
        apart[index[a]].discard(index[b])
        apart[index[b]].discard(index[a])
    for a, b in problem.constraints.conflicts:
        apart[index[a]].add(index[b])
        apart[index[b]].add(index[a])
    return [sorted(others) for others in apart]


def order_of(plan: Plan, apart: Sequence[Sequence[int]]) -> Order:
    """Return the order given by the plan's offsets."""
    place = [(p.offset, p.size, i) for i, p in enumerate(plan.placements)]
    pool = [p.pool for p in plan.placements]
    by_address = sorted(range(len(place)), key=lambda i: place[i])
    beneath = [0] * len(place)
    """As bits: all buffers below, directly or indirectly."""
    after: dict[int, tuple[int, ...]] = {}
    for i in in_time(by_address, PREPARING):
        lower = [j for j in apart[i] if pool[j] == pool[i] and place[j] < place[i]]
        direct: list[int] = []
        for j in sorted(lower, key=lambda j: place[j], reverse=True):
            if not beneath[i] >> j & 1:
                direct.append(j)
                beneath[i] |= beneath[j] | 1 << j
        after[i] = tuple(sorted(direct))
    return by_address, after


def used(problem: ShapedProblem, plan: Plan, order: Order, values: Values) -> dict[str, int]:
    """Return for each pool the largest end offset in one shape, ignoring empty buffers."""
    by_address, after = order
    peaks = {pool.name: 0 for pool in problem.largest.pools}
    ends: dict[int, int] = {}
    steps = alignments(problem.largest, plan)
    for i in in_time(by_address, PREPARING):
        step = steps[i]
        start = -(-max((ends[j] for j in after[i]), default=0) // step) * step
        size = problem.sizes[i].at(values)
        ends[i] = start + size
        if size:
            name = plan.placements[i].pool
            peaks[name] = max(peaks[name], ends[i])
    return peaks


def alignments(problem: Problem, plan: Plan) -> list[int]:
    """Return the required alignment of each buffer's offset."""
    of_pool = {pool.name: pool.alignment for pool in problem.pools}
    return [
        lcm(buffer.alignment, of_pool[place.pool])
        for buffer, place in zip(problem.buffers, plan.placements, strict=True)
    ]


class Closed:
    """Closed expressions for an order: each offset is the maximum of some sums of sizes."""

    def __init__(
        self, problem: ShapedProblem, plan: Plan, order: Order, is_over: Callable[[], bool] = lambda: False
    ) -> None:
        self._problem, self._plan, self._is_over = problem, plan, is_over
        self._order, self._after = order
        self._steps = alignments(problem.largest, plan)
        self._sizes = _forms_of(problem.sizes, problem.symbols)
        self._sums: dict[int, list[Polynomial]] = {}
        self._exact: dict[int, bool] = {}
        self._last: dict[str, list[int]] = {}
        """In each pool, the buffers behind which no other lies."""
        below = {j for after in self._after.values() for j in after}
        for i in self._order:
            if i not in below:
                self._last.setdefault(plan.placements[i].pool, []).append(i)
        for i in in_time(self._order, PREPARING):
            self._close(i)

    def _close(self, i: int) -> None:
        step = self._steps[i]
        found: list[Polynomial] = []
        exact = True
        for j in self._after[i]:
            exact = exact and self._exact[j]
            for offset in self._sums[j]:
                for size in self._sizes[j]:
                    behind, is_exact = _aligned(offset, size, step, self._problem.symbols)
                    found.append(behind)
                    exact = exact and is_exact
        kept, is_all = self._kept(found)
        self._sums[i], self._exact[i] = kept, exact and is_all

    def _kept(self, sums: Sequence[Polynomial]) -> tuple[list[Polynomial], bool]:
        """Return the sums that matter; if there are too many, or time is over, one sum that bounds all."""
        box = self._problem.symbols
        if not sums:
            return [constant(0)], True
        if not self._is_over():
            kept = envelope(sums, box)
            if len(kept) <= MOST_SUMS:
                return kept, True
            sums = kept
        return [above_all(sums, box)], len(sums) == 1

    def behind(self) -> tuple[Behind, ...]:
        """Return the buffers in order, each after those that it lies behind."""
        ids: list[BufferId] = [buffer.id for buffer in self._problem.largest.buffers]
        return tuple(
            Behind(
                ids[i],
                self._plan.placements[i].pool,
                self._problem.sizes[i],
                self._steps[i],
                tuple(ids[j] for j in self._after[i]),
                largest([expression(each) for each in self._sums[i]]),
                self._exact[i],
            )
            for i in self._order
        )

    def pools(self) -> tuple[PoolPeak, ...]:
        """Return the most that each pool takes. Raises CannotSolve if that exceeds its size or cannot be determined."""
        return tuple(self._pool(p) for p in range(len(self._problem.largest.pools)))

    def _pool(self, number_of_pool: int) -> PoolPeak:
        pool, box = self._problem.largest.pools[number_of_pool], self._problem.symbols
        last = self._last.get(pool.name, [])
        sums = [plus(offset, size) for i in last for offset in self._sums[i] for size in self._sizes[i]]
        kept, is_all = self._kept(sums)
        exact = is_all and all(self._exact[i] for i in last)
        peak = largest([expression(each) for each in kept])
        room = LIMIT - 1 if pool.size is None else pool.size
        if not all(never_below(constant(room), each, box) for each in kept):
            most = greatest(peak, box)
            if most is None or most.value > room or bounds(peak, box)[1] >= LIMIT:
                where = "" if most is None else f" ({most})"
                text = f"pool {echo(pool.name)} has {room} bytes, and the offsets can take {peak}{where}"
                raise CannotSolve(Finding(Code.UNSUPPORTED, f"/pools/{number_of_pool}/size", text))
        return PoolPeak(pool.name, pool.size, peak, exact)


def _forms_of(sizes: Sequence[Expression], box: Box) -> list[list[Polynomial]]:
    """Return the normal forms of the sizes; equal expressions are often one object, worked out once."""
    known = {id(size): size for size in sizes}
    forms = {key: alternatives(size, box) for key, size in in_time(known.items(), PREPARING)}
    return [forms[id(size)] for size in sizes]


def _aligned(offset: Polynomial, size: Polynomial, step: int, box: Box) -> tuple[Polynomial, bool]:
    """Return the next multiple behind, and whether it is exact or possibly too large."""
    end = plus(offset, size)
    if step == 1 or is_multiple(end, step):
        return end, True
    if is_multiple(offset, step):
        return plus(offset, quotient(size, constant(step), box), step), True
    return plus(end, constant(step - 1)), False
