"""Verifies a plan for all shapes from the problem and the plan alone: every claim is derived again, and some shapes are tried.

The order shows that nothing overlaps: of two buffers that must not share addresses, one has to lie behind the other, directly or
indirectly. That closed expressions are never below the offsets is shown edge by edge, in exact rational arithmetic.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import lcm
from typing import TypeAlias

import numpy as np

from ...facts.constants import spell_out_constants
from ...facts.digest import digest
from ...facts.intervals import merged
from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.deadline import in_time, look
from ...model.errors import BadInput, echo
from ...model.plan import Plan, PlanStatus
from ...model.problem import Buffer, BufferId, Pool, Problem
from ...verifying.arguments.counterexamples import usual_effort
from ...verifying.arrays import most_live
from ...verifying.findings import FindingKind
from ...verifying.placements import peaks, placed_buffers
from ...verifying.simple_plans import simple_plans
from ...verifying.verify import verify
from .answer import Behind, Mode, ShapesPlan
from .apart import Apart
from .expression import LIMIT, Expression, ExpressionError, Kind, Values
from .intervals import Box, bounds
from .normal import alternatives, quotient
from .polynomial import Polynomial, constant, is_multiple, never_below, plus, polynomial
from .ranges import size_range, values_text
from .shaped import ShapedProblem, require_shape

Alternatives: TypeAlias = Mapping[BufferId, Sequence[Polynomial]]
"""For each buffer, the expressions whose maximum is its offset or size."""

BETWEEN_TWO = (FindingKind.OVERLAP, FindingKind.SEPARATION_BROKEN)
"""Findings that _rows looks for, shape by shape."""
BELIEVED = (FindingKind.UNPROVEN_BOUND, FindingKind.WRONG_CERTIFICATE)
"""Findings about proofs for a problem in which fewer pairs are kept apart."""
TRIED = 64
"""The shapes tried besides those that the plan lists."""
TRIED_BUFFERS = 200_000
"""Fewer are tried of long problems: so many buffers in all."""
MOST_LISTED = 20


def verify_shapes(problem: ShapedProblem, found: ShapesPlan, *, effort: int | None = None) -> tuple[str, ...]:
    """Return all faults of the plan in sentences, at most MOST_LISTED; empty if it may be trusted.

    What is said to be proven of single shapes is held against simple plans; how many of these are made depends on the
    problem's size, unless `effort` says after how many comparisons it ends.
    """
    wrong: list[str] = []
    for text in _findings(problem, found, usual_effort(problem.largest) if effort is None else effort):
        wrong.append(text)
        if len(wrong) == MOST_LISTED:
            break
    return tuple(wrong)


def _findings(problem: ShapedProblem, found: ShapesPlan, effort: int) -> Iterator[str]:
    if found.problem_digest != digest(problem.largest) or dict(found.symbols) != dict(problem.symbols):
        yield "it was made for another problem: the digests or the symbols differ"
        return
    if found.mode is Mode.EXPRESSIONS:
        if found.exact and not (all(each.exact for each in found.behind) and all(pool.exact for pool in found.pools)):
            yield "it claims to be exact, but some of its expressions are not"
        structure = [*_pools(problem.largest, found), *_order(problem.largest, found.behind)]
        yield from structure
        if structure:
            return
        yield from _sizes(problem, found)
        yield from _expressions(problem, found)
    else:
        fixed = list(_fixed(problem, found, effort))
        yield from fixed
        if fixed:
            return
    yield from _rows(problem, found, effort)


def _pools(problem: Problem, found: ShapesPlan) -> Iterator[str]:
    if [pool.name for pool in found.pools] != [pool.name for pool in problem.pools]:
        yield "it does not list the problem's pools, in their order"


def _order(problem: Problem, behind: Sequence[Behind]) -> Iterator[str]:
    """Check that each buffer appears once, in an allowed pool, behind earlier buffers only, and that conflicting buffers lie behind each other."""
    index = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
    if len(behind) != len(index) or {each.id for each in behind} != index.keys():
        yield "it does not name every buffer once"
        return
    pools = {pool.name: pool for pool in problem.pools}
    astray = [
        f"buffer {echo(each.id)} may not be in pool {echo(each.pool)}"
        for each in behind
        if each.pool not in pools or each.pool not in (problem.buffers[index[each.id]].pools or pools)
    ]
    if astray:
        yield from astray
        return
    for each in behind:
        yield from _place(problem.buffers[index[each.id]], pools[each.pool], each)
    yield from _chains(problem, index, behind)
    yield from _rules(problem, {each.id: each.pool for each in behind})


def _place(buffer: Buffer, pool: Pool, each: Behind) -> Iterator[str]:
    """Check that the buffer is in the pool to which it is fixed, and aligned."""
    if buffer.fixed is not None and (buffer.fixed.pool != pool.name or buffer.fixed.offset is not None):
        yield f"buffer {echo(each.id)} is fixed elsewhere"
    step = lcm(pool.alignment, buffer.alignment)
    if each.alignment % step or (pool.base is not None and pool.base % buffer.alignment):
        yield f"buffer {echo(each.id)} is aligned to {each.alignment}, and must be to {step}"


def _chains(problem: Problem, index: Mapping[BufferId, int], behind: Sequence[Behind]) -> Iterator[str]:
    """Check that of two conflicting buffers one lies behind the other, directly or indirectly."""
    pool: dict[int, str] = {}
    beneath: dict[int, int] = {}
    """As bits: all buffers below."""
    for each in behind:
        bits = 0
        for id_ in each.after:
            j = index.get(id_, -1)
            if pool.get(j) != each.pool:
                yield f"buffer {echo(each.id)} lies behind {echo(id_)}, which does not come before it in its pool"
                return
            bits |= beneath[j] | 1 << j
        i = index[each.id]
        pool[i], beneath[i] = each.pool, bits
    for i, j in Apart(problem).pairs():
        if pool[i] == pool[j] and not (beneath[i] >> j & 1 or beneath[j] >> i & 1):
            a, b = problem.buffers[i].id, problem.buffers[j].id
            yield f"buffers {echo(a)} and {echo(b)} may share addresses, but must not"


def _rules(problem: Problem, pool: Mapping[BufferId, str]) -> Iterator[str]:
    """Check the rules about several buffers, and those that no order keeps."""
    c = problem.constraints
    if (
        c.colocations
        or any(buffer.max_offset is not None for buffer in problem.buffers)
        or any(each.reserved for each in problem.pools)
    ):
        yield "the problem has rules that offsets as expressions cannot keep"
    for group in c.same_pool:
        if len({pool[id_] for id_ in group}) > 1:
            yield f"buffers {', '.join(map(echo, group))} must share a pool"
    for group in c.different_pool:
        if len({pool[id_] for id_ in group}) < len(set(group)):
            yield f"buffers {', '.join(map(echo, group))} must be in different pools"


def _sizes(problem: ShapedProblem, found: ShapesPlan) -> Iterator[str]:
    sizes = {buffer.id: size for buffer, size in zip(problem.largest.buffers, problem.sizes, strict=True)}
    for each in in_time(found.behind, VERIFYING):
        if str(each.size) != str(sizes[each.id]):
            yield f"the size of buffer {echo(each.id)} is {sizes[each.id]}, not {each.size}"
        try:
            size_range(each.size, problem.symbols)
        except ExpressionError as error:
            yield f"the size of buffer {echo(each.id)}: {error}"


def _expressions(problem: ShapedProblem, found: ShapesPlan) -> Iterator[str]:
    """Check the closed expressions of the buffers' offsets, from the lowest to the highest, and of the pools' peaks."""
    box = problem.symbols
    closed = {each.id: _claimed(each.offset, box) for each in found.behind}
    sizes = {each.id: alternatives(each.size, box) for each in found.behind}
    yield from _offsets(found, closed, sizes, box)
    yield from _peaks(found, closed, sizes, box)
    for pool, claim in zip(problem.largest.pools, found.pools, strict=True):
        if claim.size != pool.size:
            yield f"pool {echo(pool.name)} has {pool.size} bytes, not {claim.size}"
        room = LIMIT - 1 if pool.size is None else pool.size
        if not _is_at_most(claim.peak, room, box):
            yield f"pool {echo(pool.name)} has {room} bytes, which are not shown to be enough"


def _offsets(found: ShapesPlan, closed: Alternatives, sizes: Alternatives, box: Box) -> Iterator[str]:
    """Check that no offset is negative, or below the end of a buffer that it lies behind."""
    for each in found.behind:
        if not each.after and not _is_never_below(closed[each.id], constant(0), box):
            yield f"the offset of buffer {echo(each.id)} can be negative"
        for id_ in each.after:
            for offset, size in product(closed[id_], sizes[id_]):
                if not _is_never_below(closed[each.id], _end(offset, size, each.alignment, box), box):
                    yield f"it is not shown that {each.offset} is never below the end of {echo(id_)}, behind which {echo(each.id)} lies"


def _peaks(found: ShapesPlan, closed: Alternatives, sizes: Alternatives, box: Box) -> Iterator[str]:
    """Check that every buffer ends within its pool's peak. Buffers with others behind them need no check."""
    peaks = {pool.name: pool.peak for pool in found.pools}
    beneath = {id_ for each in found.behind for id_ in each.after}
    for each in found.behind:
        if each.id in beneath:
            continue
        peak = _claimed(peaks[each.pool], box)
        for offset, size in product(closed[each.id], sizes[each.id]):
            if not _is_never_below(peak, plus(offset, size), box):
                yield f"it is not shown that pool {echo(each.pool)} never needs more than {peaks[each.pool]} for {echo(each.id)}"


def _is_never_below(greatest_of: Sequence[Polynomial], other: Polynomial, box: Box) -> bool:
    """True if one of them is proven never below the other."""
    return any(never_below(one, other, box) for one in greatest_of)


def _is_at_most(peak: Expression, room: int, box: Box) -> bool:
    """Check by its bounds, then by each part of the maximum, then by close examination."""
    if bounds(peak, box)[1] <= room or all(never_below(constant(room), one, box) for one in _claimed(peak, box)):
        return True
    try:
        return size_range(peak, box)[1].value <= room
    except ExpressionError:
        return False


def _claimed(made: Expression, box: Box) -> list[Polynomial]:
    """Return the parts of a closed expression, each as it is written if its normal form is more than one polynomial."""
    parts = made.parts if made.kind is Kind.MAX else (made,)
    forms = [(part, alternatives(part, box)) for part in parts]
    return [found[0] if len(found) == 1 else polynomial(part) for part, found in forms]


def _end(offset: Polynomial, size: Polynomial, step: int, box: Box) -> Polynomial:
    """Return an upper bound of the next multiple of the step at or behind the end."""
    end = plus(offset, size)
    if is_multiple(end, step):
        return end
    if is_multiple(offset, step):
        return plus(offset, quotient(size, constant(step), box), step)
    return plus(end, constant(step - 1))


def _fixed(problem: ShapedProblem, found: ShapesPlan, effort: int) -> Iterator[str]:
    """Check the plan of fixed offsets; _rows checks what overlaps in the listed shapes."""
    if found.plan is None or [p.id for p in found.plan.placements] != [b.id for b in problem.largest.buffers]:
        yield "it does not place every buffer once, in the problem's order"
        return
    if found.exact and found.plan.status is not PlanStatus.OPTIMAL:
        yield f"it claims to be exact, but its plan is {found.plan.status}"
    if found.mode is Mode.BUCKETS:
        yield from _for_list(problem, found, found.plan, effort)
    else:
        yield from (finding.message for finding in verify(problem.largest, found.plan, effort=effort))
        for size, place in zip(in_time(problem.sizes, VERIFYING), found.plan.placements, strict=True):
            try:
                most = size_range(size, problem.symbols)[1].value
            except ExpressionError as error:
                yield f"the size of buffer {echo(place.id)}: {error}"
                continue
            if most > place.size:
                yield f"buffer {echo(place.id)} has room for {place.size} bytes, and can need {most}"


def _for_list(problem: ShapedProblem, found: ShapesPlan, plan: Plan, effort: int) -> Iterator[str]:
    """Check the plan with each buffer's largest size among the listed shapes.

    Where buffers are empty in some shapes, others may lie over them: _rows checks this in each shape, and the plan's bound is believed, as
    searches are.
    """
    try:
        for row in found.rows:
            require_shape(problem, row.values)
    except BadInput as error:
        yield error.findings[0].message
        return
    if not found.rows:
        yield "it is for a list of shapes, and lists none"
        return
    most = least = problem.sizes_at(found.rows[0].values)
    for row in found.rows[1:]:
        sizes = problem.sizes_at(row.values)
        most, least = [*map(max, most, sizes)], [*map(min, least, sizes)]
    buffers = (replace(b, size=size) for b, size in zip(problem.largest.buffers, most, strict=True))
    target = replace(problem.largest, buffers=tuple(buffers))
    if 0 in least:
        wrong = [each for each in verify(target, plan) if each.kind not in (*BETWEEN_TWO, *BELIEVED)]
        yield from _refuted(target, plan.bound, "with the largest sizes, ", effort)
    else:
        wrong = [*verify(target, plan, effort=effort)]
    yield from (finding.message for finding in wrong)


def _rows(problem: ShapedProblem, found: ShapesPlan, effort: int) -> Iterator[str]:
    """Check the listed shapes, and some more if the plan is for all, by placing them and comparing pairs."""
    apart = Apart(problem.largest)
    for row in found.rows:
        look(VERIFYING)
        try:
            require_shape(problem, row.values)
        except BadInput as error:
            yield error.findings[0].message
            continue
        yield from _of_shape(problem, found, row.values, apart, row.used)
        where = values_text(row.values)
        if row.optimum is not None:
            least = max(row.bound, _most_live(problem, row.values))
            if row.optimum < least:
                yield f"where {where}, the optimum is {row.optimum}, but every plan takes {least} bytes"
            if row.optimum > row.used:
                yield f"where {where}, the optimum is {row.optimum}, but this plan takes only {row.used} bytes"
        if row.bound > row.used:
            yield f"where {where}, the bound is {row.bound}, but only {row.used} bytes are used"
        elif row.bound:
            yield from _refuted(problem.at(row.values), row.bound, f"where {where}, ", effort // len(found.rows))
    if found.mode is Mode.BUCKETS:
        return
    chance = random.Random(0)
    for _ in range(max(min(TRIED, TRIED_BUFFERS // max(len(problem.sizes), 1)), 1)):
        look(VERIFYING)
        values = {name: chance.randint(*span) for name, span in problem.symbols.items()}
        yield from _of_shape(problem, found, values, apart, None)


def _most_live(problem: ShapedProblem, values: Values) -> int:
    """Return the bytes that are live at the busiest time; 0 if some of them may share addresses."""
    constraints = problem.largest.constraints
    if constraints.colocations or constraints.exclusions:
        return 0
    pairs = zip(problem.largest.buffers, problem.sizes_at(values), strict=True)
    lives = [(size, *interval) for buffer, size in pairs for interval in merged(buffer.live or ())]
    return most_live(*np.array(lives, dtype=np.int64).reshape(-1, 3).T)


def _refuted(problem: Problem, bound: int, where: str, effort: int) -> Iterator[str]:
    """Return that a simple plan takes less than is said to be proven, which is believed otherwise."""
    problem = spell_out_constants(problem)
    for placements in simple_plans(Places(problem), effort=effort):
        taken = sum(peaks(problem, placed_buffers(problem, placements)).values())
        if taken < bound:
            yield f"{where}the bound is {bound}, but a plan takes {taken}"
            return


def _of_shape(
    problem: ShapedProblem, found: ShapesPlan, values: Values, apart: Apart, claimed: int | None
) -> Iterator[str]:
    """Check one shape: nothing overlaps, everything is aligned and within its pool, and the claims hold."""
    where = values_text(values)
    offsets = found.offsets(values)
    buffers = problem.largest.buffers
    pool_of = found.pool_of()
    each = zip(buffers, problem.sizes_at(values), strict=True)
    spans = [(pool_of[b.id], offsets[b.id], offsets[b.id] + size) for b, size in each]
    numbers = {pool.name: p for p, pool in enumerate(problem.largest.pools)}
    low, high = [span[1] for span in spans], [span[2] for span in spans]
    for i, j in apart.overlaps([numbers[span[0]] for span in spans], low, high):
        yield f"where {where}, buffers {echo(buffers[i].id)} and {echo(buffers[j].id)} overlap"
    pools = {pool.name: pool for pool in problem.largest.pools}
    peaks = dict.fromkeys(pools, 0)
    for buffer, (name, start, end) in zip(buffers, spans, strict=True):
        pool = pools[name]
        if ((pool.base or 0) + start) % lcm(pool.alignment, buffer.alignment) or start < 0:
            yield f"where {where}, buffer {echo(buffer.id)} is not aligned"
        if pool.size is not None and end > pool.size:
            yield f"where {where}, buffer {echo(buffer.id)} ends at {end}, behind the end of pool {echo(name)}"
        if start < end:
            peaks[name] = max(peaks[name], end)
    yield from _closed(found, values, offsets, peaks)
    if claimed is not None and claimed != sum(peaks.values()):
        yield f"where {where}, {sum(peaks.values())} bytes are used, not {claimed}"


def _closed(
    found: ShapesPlan, values: Values, offsets: Mapping[BufferId, int], peaks: Mapping[str, int]
) -> Iterator[str]:
    """Compare what closed expressions say about a shape with the actual values."""
    for each in found.behind:
        closed = each.offset.at(values)
        if closed < offsets[each.id] or (each.exact and closed != offsets[each.id]):
            yield f"where {values_text(values)}, the offset of {echo(each.id)} is {offsets[each.id]}, not {closed}"
    for claim in found.pools:
        peak = claim.peak.at(values)
        ends = (offsets[each.id] + each.size.at(values) for each in found.behind if each.pool == claim.name)
        if peak < peaks[claim.name] or (claim.exact and peak != max(ends, default=0)):
            yield f"where {values_text(values)}, pool {echo(claim.name)} needs {peaks[claim.name]}, not {peak}"
