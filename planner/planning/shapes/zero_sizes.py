"""One set of offsets for shapes in which some buffers are empty: two that never exist together may share addresses.

Every shape gets its own period of time, in which each buffer has its size in that shape; all pieces of a buffer lie at one address. So a
plan of this problem is one set of offsets for all shapes, and an optimal one is the best set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from solvers.model.instance import Term

from ...facts.digest import digest
from ...model.plan import Placement, Plan, PlanStatus, PoolUse
from ...model.problem import Buffer, Colocation, Constraints, Problem
from ..options.options import Options
from ..placing.solving import plan

OF_PEAKS = ((Term.SUM_OF_PEAKS,), (Term.LARGEST_PEAK,))
"""The objectives that the construction keeps: others count each buffer, of which it makes one for each shape."""


def for_all_at_once(target: Problem, shapes: Sequence[Problem], options: Options) -> Plan | None:
    """Return the plan, with the target's sizes; None for problems with rules that this construction loses."""
    c = target.constraints
    if c.colocations or c.conflicts or c.reuse_penalties or c.same_pool or c.different_pool or target.was:
        return None
    if target.terms not in OF_PEAKS or any(
        b.fixed is not None or b.max_offset is not None or b.live is None for b in target.buffers
    ):
        return None
    made = plan(_unrolled(target, _maximal(shapes)), options)
    if not made.status.has_plan:
        return made
    where = {place.id: place for place in made.placements}
    placements = tuple(
        Placement(b.id, where[_piece(i, 0)].pool, where[_piece(i, 0)].offset, b.size)
        for i, b in enumerate(target.buffers)
    )
    uses = tuple(PoolUse(use.name, use.size, use.peak, use.bound) for use in made.pools)
    status = made.status if made.status is PlanStatus.OPTIMAL else PlanStatus.FEASIBLE
    return replace(
        made, status=status, placements=placements, pools=uses, problem_digest=digest(target), certificates=()
    )


def _piece(buffer: int, shape: int) -> int:
    return -1 - buffer if not shape else buffer * 1_000_000 + shape


def _maximal(shapes: Sequence[Problem]) -> list[tuple[int, ...]]:
    """Return the sizes of the shapes that no other shape dominates in every buffer."""
    vectors = sorted({tuple(b.size for b in shape.buffers) for shape in shapes}, reverse=True)
    kept: list[tuple[int, ...]] = []
    for one in vectors:
        if not any(all(a <= b for a, b in zip(one, other, strict=True)) for other in kept):
            kept.append(one)
    return kept


def _unrolled(target: Problem, vectors: Sequence[tuple[int, ...]]) -> Problem:
    spans = [span for buffer in target.buffers for span in buffer.live or ()]
    first, last = min((start for start, _ in spans), default=0), max((end for _, end in spans), default=0)
    period = last - first + 1
    buffers: list[Buffer] = []
    colocations: list[Colocation] = []
    excluded = {frozenset(pair) for pair in target.constraints.exclusions}
    index = {buffer.id: i for i, buffer in enumerate(target.buffers)}
    exclusions = []
    for i, buffer in enumerate(target.buffers):
        anchor = replace(
            buffer, id=_piece(i, 0), size=0, live=None, hint=None, accesses=0, reads=0, writes=0, data=None
        )
        buffers.append(anchor)
        for k, sizes in enumerate(vectors, start=1):
            live = tuple((start + k * period, end + k * period) for start, end in buffer.live or ())
            buffers.append(replace(anchor, id=_piece(i, k), size=sizes[i], live=live))
            colocations.append(Colocation(_piece(i, k), _piece(i, 0), 0))
    for pair in excluded:
        a, b = (index[id_] for id_ in pair)
        exclusions += [(_piece(a, k), _piece(b, k)) for k in range(1, len(vectors) + 1)]
    constraints = Constraints(exclusions=tuple(exclusions), colocations=tuple(colocations))
    return replace(target, buffers=tuple(buffers), constraints=constraints)
