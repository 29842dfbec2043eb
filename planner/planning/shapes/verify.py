"""Is a plan for all shapes right? From the problem and the plan alone: every claim is derived again, and shapes are tried besides.

That nothing overlaps is read off the order: of any two buffers that must not share addresses one has to lie behind the other, directly or by others.
That closed expressions are never below the offsets is shown edge by edge, in exact rational arithmetic.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm

from ...facts.digest import digest
from ...model.errors import BadInput, echo
from ...model.problem import BufferId, Problem
from .answer import Behind, Mode, ShapesPlan
from .expression import LIMIT, ExpressionError, Values, ceildiv, number
from .polynomial import Polynomial, alternatives, constant, is_multiple, never_below, plus
from .ranges import bounds, said, size_range
from .shaped import ShapedProblem, require_shape

TRIED = 64
"""Shapes, besides those that the plan lists."""
MOST_LISTED = 20


def verify_shapes(problem: ShapedProblem, found: ShapesPlan) -> tuple[str, ...]:
    """Everything that is wrong with it, in sentences, at most MOST_LISTED; empty if it may be trusted."""
    wrong: list[str] = []
    for text in _findings(problem, found):
        wrong.append(text)
        if len(wrong) == MOST_LISTED:
            break
    return tuple(wrong)


def _findings(problem: ShapedProblem, found: ShapesPlan) -> Iterator[str]:
    if found.problem_digest != digest(problem.largest) or dict(found.symbols) != dict(problem.symbols):
        yield "it was made for another problem: the digests or the symbols differ"
        return
    if found.mode is Mode.EXPRESSIONS:
        structure = list(_order(problem.largest, found.behind))
        yield from structure
        if structure:
            return
        yield from _sizes(problem, found)
        yield from _expressions(problem, found)
    else:
        fixed = list(_fixed(problem, found))
        yield from fixed
        if fixed:
            return
    yield from _rows(problem, found)


def _conflict(
    problem: Problem, i: int, j: int, excluded: set[frozenset[BufferId]], named: set[frozenset[BufferId]]
) -> bool:
    a, b = problem.buffers[i], problem.buffers[j]
    pair = frozenset((a.id, b.id))
    if pair in named:
        return True
    if pair in excluded:
        return False
    return any(s < t and u < v and s < v and u < t for s, t in a.live or () for u, v in b.live or ())


def _apart(problem: Problem) -> list[tuple[int, int]]:
    """All pairs that must not share addresses, by looking at every pair."""
    excluded = {frozenset(pair) for pair in problem.constraints.exclusions}
    named = {frozenset(pair) for pair in problem.constraints.conflicts}
    count = len(problem.buffers)
    return [(i, j) for i in range(count) for j in range(i + 1, count) if _conflict(problem, i, j, excluded, named)]


def _order(problem: Problem, behind: Sequence[Behind]) -> Iterator[str]:
    """Is each buffer there once, behind such as come before it, and do those that must not share addresses lie behind each other?"""
    index = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
    if sorted(map(str, index)) != sorted(str(each.id) for each in behind) or any(
        each.id not in index for each in behind
    ):
        yield "it does not name every buffer once"
        return
    pools = {pool.name: pool for pool in problem.pools}
    reach: dict[int, int] = {}
    of: dict[int, Behind] = {}
    for each in behind:
        i = index[each.id]
        buffer = problem.buffers[i]
        if each.pool not in pools or (buffer.pools is not None and each.pool not in buffer.pools):
            yield f"buffer {echo(each.id)} may not be in pool {echo(each.pool)}"
            return
        if buffer.fixed is not None and (buffer.fixed.pool != each.pool or buffer.fixed.offset is not None):
            yield f"buffer {echo(each.id)} is fixed elsewhere"
        pool = pools[each.pool]
        step = lcm(pool.alignment, buffer.alignment)
        if each.alignment % step or (pool.base is not None and pool.base % buffer.alignment):
            yield f"buffer {echo(each.id)} is aligned to {each.alignment}, and must be to {step}"
        bits = 0
        for id_ in each.after:
            j = index.get(id_, -1)
            if j not in reach or of[j].pool != each.pool:
                yield f"buffer {echo(each.id)} lies behind {echo(id_)}, which does not come before it in its pool"
                return
            bits |= reach[j] | 1 << j
        reach[i], of[i] = bits, each
    for i, j in _apart(problem):
        if of[i].pool == of[j].pool and not (reach[i] >> j & 1 or reach[j] >> i & 1):
            yield f"buffers {echo(problem.buffers[i].id)} and {echo(problem.buffers[j].id)} may share addresses, but must not"
    c = problem.constraints
    if (
        c.colocations
        or any(b.max_offset is not None for b in problem.buffers)
        or any(p.reserved for p in problem.pools)
    ):
        yield "the problem has rules that offsets as expressions cannot keep"
    for group in c.same_pool:
        if len({of[index[id_]].pool for id_ in group}) > 1:
            yield f"buffers {', '.join(map(echo, group))} must share a pool"
    for group in c.different_pool:
        if len({of[index[id_]].pool for id_ in group}) < len(set(group)):
            yield f"buffers {', '.join(map(echo, group))} must be in different pools"


def _sizes(problem: ShapedProblem, found: ShapesPlan) -> Iterator[str]:
    sizes = {buffer.id: size for buffer, size in zip(problem.largest.buffers, problem.sizes, strict=True)}
    for each in found.behind:
        if str(each.size) != str(sizes[each.id]):
            yield f"the size of buffer {echo(each.id)} is {sizes[each.id]}, not {each.size}"
        try:
            size_range(each.size, problem.symbols)
        except ExpressionError as error:
            yield f"the size of buffer {echo(each.id)}: {error}"


def _expressions(problem: ShapedProblem, found: ShapesPlan) -> Iterator[str]:
    """Closed expressions, from the lowest buffer to the highest; and the pools' peaks."""
    box = problem.symbols
    closed = {each.id: alternatives(each.offset) for each in found.behind}
    sizes = {each.id: alternatives(each.size) for each in found.behind}
    for each in found.behind:
        if not each.after and not any(never_below(one, constant(0), box) for one in closed[each.id]):
            yield f"the offset of buffer {echo(each.id)} can be negative"
        for id_ in each.after:
            for offset in closed[id_]:
                for size in sizes[id_]:
                    end = _end(offset, size, each.alignment)
                    if not any(never_below(one, end, box) for one in closed[each.id]):
                        yield f"it is not shown that {each.offset} is never below the end of {echo(id_)}, behind which {echo(each.id)} lies"
    peaks = {pool.name: pool for pool in found.pools}
    if list(peaks) != [pool.name for pool in problem.largest.pools]:
        yield "it does not list the problem's pools, in their order"
        return
    beneath = {id_ for each in found.behind for id_ in each.after}
    for each in found.behind:
        if each.id in beneath:
            continue  # another begins behind its end
        peak = alternatives(peaks[each.pool].peak)
        for offset in closed[each.id]:
            for size in sizes[each.id]:
                if not any(never_below(one, plus(offset, size), box) for one in peak):
                    yield f"it is not shown that pool {echo(each.pool)} never needs more than {peaks[each.pool].peak} for {echo(each.id)}"
    for pool, claim in zip(problem.largest.pools, found.pools, strict=True):
        if claim.size != pool.size:
            yield f"pool {echo(pool.name)} has {pool.size} bytes, not {claim.size}"
        room = LIMIT - 1 if pool.size is None else pool.size
        if bounds(claim.peak, box)[1] > room and not all(
            never_below(constant(room), one, box) for one in alternatives(claim.peak)
        ):
            try:
                most = size_range(claim.peak, box)[1].value
            except ExpressionError:
                most = room + 1
            if most > room:
                yield f"pool {echo(pool.name)} has {room} bytes, which are not shown to be enough"


def _end(offset: Polynomial, size: Polynomial, step: int) -> Polynomial:
    """Something never below the next multiple of the step at or behind the end."""
    end = plus(offset, size)
    if is_multiple(end, step):
        return end
    if is_multiple(offset, step) and all(Fraction(c).denominator == 1 for c in size.values()):
        from .polynomial import expression

        return plus(offset, {((ceildiv(expression(size), number(step)), 1),): step})
    return plus(end, constant(step - 1))


def _fixed(problem: ShapedProblem, found: ShapesPlan) -> Iterator[str]:
    """Fixed offsets: of every shape, if all sizes at their largest have room; otherwise of the listed ones, which _rows looks at."""
    if found.plan is None or [p.id for p in found.plan.placements] != [b.id for b in problem.largest.buffers]:
        yield "it does not place every buffer once, in the problem's order"
        return
    if found.mode is Mode.MAXIMUM:
        from ...verifying.verify import verify

        yield from (finding.message for finding in verify(problem.largest, found.plan))
        for size, place in zip(problem.sizes, found.plan.placements, strict=True):
            try:
                most = size_range(size, problem.symbols)[1].value
            except ExpressionError as error:
                yield f"the size of buffer {echo(place.id)}: {error}"
                continue
            if most > place.size:
                yield f"buffer {echo(place.id)} has room for {place.size} bytes, and can need {most}"


def _rows(problem: ShapedProblem, found: ShapesPlan) -> Iterator[str]:
    """The listed shapes, and some more where the plan is for all: placed, and looked at pair by pair."""
    apart = _apart(problem.largest)
    for row in found.rows:
        try:
            require_shape(problem, row.values)
        except BadInput as error:
            yield error.findings[0].message
            continue
        yield from _of_shape(problem, found, row.values, apart, row.used)
        if row.optimum is not None and not row.bound <= row.optimum:
            yield f"where {said(row.values)}, the optimum {row.optimum} is below its bound {row.bound}"
    if found.mode is Mode.BUCKETS:
        return
    chance = random.Random(0)
    for _ in range(TRIED):
        values = {name: chance.randint(*span) for name, span in problem.symbols.items()}
        yield from _of_shape(problem, found, values, apart, None)


def _of_shape(
    problem: ShapedProblem, found: ShapesPlan, values: Values, apart: Sequence[tuple[int, int]], claimed: int | None
) -> Iterator[str]:
    where = said(values)
    offsets = found.offsets(values)
    buffers = problem.at(values).buffers
    pools = (
        {each.id: each.pool for each in found.behind}
        if found.plan is None
        else {p.id: p.pool for p in found.plan.placements}
    )
    spans = [(pools[b.id], offsets[b.id], offsets[b.id] + b.size) for b in buffers]
    for i, j in apart:
        (p, s, t), (q, u, v) = spans[i], spans[j]
        if p == q and s < v and u < t and s < t and u < v:
            yield f"where {where}, buffers {echo(buffers[i].id)} and {echo(buffers[j].id)} overlap"
    peaks = {pool.name: 0 for pool in problem.largest.pools}
    for buffer, (name, start, end) in zip(buffers, spans, strict=True):
        pool = next(p for p in problem.largest.pools if p.name == name)
        if ((pool.base or 0) + start) % lcm(pool.alignment, buffer.alignment) or start < 0:
            yield f"where {where}, buffer {echo(buffer.id)} is not aligned"
        if buffer.size:
            peaks[name] = max(peaks[name], end)
        if pool.size is not None and end > pool.size:
            yield f"where {where}, buffer {echo(buffer.id)} ends at {end}, behind the end of pool {echo(name)}"
    if found.plan is None:
        for each in found.behind:
            closed = each.offset.at(values)
            if closed < offsets[each.id] or (each.exact and closed != offsets[each.id]):
                yield f"where {where}, the offset of {echo(each.id)} is {offsets[each.id]}, not {closed}"
        for claim in found.pools:
            if claim.peak.at(values) < peaks[claim.name]:
                yield f"where {where}, pool {echo(claim.name)} needs {peaks[claim.name]}, not {claim.peak.at(values)}"
    if claimed is not None:
        most = sum(peaks.values())
        ends = {name: max([end for p, _, end in spans if p == name], default=0) for name in peaks}
        if claimed not in (most, sum(ends.values())):
            yield f"where {where}, {most} bytes are used, not {claimed}"
