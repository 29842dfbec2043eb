"""Every rule of a problem that placements may break: each by itself, those that overlap, and those between buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ..facts.sweep import VERIFYING, Integers, Pieces, all_apart, exact_array
from ..model.columns.buffers import ids
from ..model.deadline import in_time, look
from ..model.errors import echo
from ..model.plan import Placement
from ..model.problem import Buffer, BufferId, Problem
from .findings import AddressRange, FindingKind, PlanFindings
from .permitted import Permitted, numbers_of
from .placements import PlacedBuffers, check_each, pieces


def check_placements(
    problem: Problem, where: Sequence[Placement | None], placed: PlacedBuffers, report: PlanFindings
) -> None:
    """Report every rule of the problem that the placements break."""
    check_each(problem, placed, report)
    look(VERIFYING)
    _check_overlaps(problem, where, pieces(problem, placed), report)
    look(VERIFYING)
    _check_relations(problem, where, placed, report)


def _check_overlaps(
    problem: Problem, where: Sequence[Placement | None], used: Iterable[Pieces], report: PlanFindings
) -> None:
    permitted: Permitted | None = None
    for here in used:
        if all_apart(here):
            continue
        look(VERIFYING)
        permitted = permitted or Permitted(problem)
        if permitted.any and (all_apart(here, permitted.may_share) or permitted.are_apart(here)):
            continue
        seen: set[tuple[int, int]] = set()
        for pair in permitted.clashes(here):
            if pair in seen:
                continue
            if report.is_full(FindingKind.OVERLAP):
                return
            seen.add(pair)
            first, second = (problem.buffers[i] for i in pair)
            _two(
                report,
                FindingKind.OVERLAP,
                first,
                where[pair[0]],
                second,
                where[pair[1]],
                "are live together and overlap",
            )


def _check_relations(
    problem: Problem, where: Sequence[Placement | None], placed: PlacedBuffers, report: PlanFindings
) -> None:
    """Check constraints between buffers."""
    constraints = problem.constraints
    if not (constraints.conflicts or constraints.colocations or constraints.same_pool or constraints.different_pool):
        return
    index = {id_: i for i, id_ in enumerate(ids(problem.buffers))}
    _check_pairs(problem, where, placed, index, report)
    if constraints.same_pool or constraints.different_pool:
        _check_pools(problem, placed, index, report)


def _check_pools(problem: Problem, placed: PlacedBuffers, index: Mapping[BufferId, int], report: PlanFindings) -> None:
    """Check that buffers share a pool, or do not, as they must."""
    constraints = problem.constraints
    pools = dict(zip(placed.number.tolist(), placed.pool.tolist(), strict=True))
    for group in in_time(constraints.same_pool, VERIFYING):
        used = [pools[index[id_]] for id_ in in_time(group, VERIFYING) if index[id_] in pools]
        if len(set(used)) > 1:
            text = f"{_names(group)} must share one pool but do not"
            report.add(FindingKind.SAME_POOL_BROKEN, text, group)
    for group in in_time(constraints.different_pool, VERIFYING):
        used = [pools[index[id_]] for id_ in in_time(group, VERIFYING) if index[id_] in pools]
        if len(set(used)) < len(used):
            text = f"{_names(group)} must be in different pools but are not"
            report.add(FindingKind.DIFFERENT_POOL_BROKEN, text, group)


def _check_pairs(
    problem: Problem,
    where: Sequence[Placement | None],
    placed: PlacedBuffers,
    index: Mapping[BufferId, int],
    report: PlanFindings,
) -> None:
    """Check conflicts and colocations."""
    constraints = problem.constraints
    end = placed.offset + placed.size
    pool, low, high = (np.full(len(index), -1, dtype=end.dtype) for _ in range(3))
    """-1 for a buffer without a place."""
    pool[placed.number], low[placed.number], high[placed.number] = placed.pool, placed.offset, end

    def broken(
        kind: FindingKind, pairs: Sequence[tuple[BufferId, BufferId]], which: Integers, text: Callable[[int], str]
    ) -> None:
        for k in np.flatnonzero(which).tolist():
            a, b = (index[id_] for id_ in pairs[k])
            _two(report, kind, problem.buffers[a], where[a], problem.buffers[b], where[b], text(k))

    one, other = numbers_of(index, constraints.conflicts)
    meet = (
        (pool[one] == pool[other])
        & (pool[one] >= 0)
        & (np.minimum(high[one], high[other]) > np.maximum(low[one], low[other]))
    )
    broken(FindingKind.SEPARATION_BROKEN, constraints.conflicts, meet, lambda _: "must not share addresses but overlap")
    colocated = [(each.buffer, each.base) for each in constraints.colocations]
    one, other = numbers_of(index, colocated)
    apart = exact_array([tie.offset for tie in constraints.colocations])
    torn = (pool[one] != pool[other]) | (low[one] != low[other] + apart)
    torn &= (pool[one] >= 0) & (pool[other] >= 0)
    broken(
        FindingKind.COLOCATION_BROKEN,
        colocated,
        torn,
        lambda k: f"are not {constraints.colocations[k].offset} bytes apart in one pool, as their colocation says",
    )


def _two(
    report: PlanFindings,
    kind: FindingKind,
    a: Buffer,
    at_a: Placement | None,
    b: Buffer,
    at_b: Placement | None,
    what: str,
) -> None:
    assert at_a is not None
    assert at_b is not None
    first = AddressRange(at_a.pool, at_a.offset, at_a.offset + a.size)
    second = AddressRange(at_b.pool, at_b.offset, at_b.offset + b.size)
    text = f"buffers {echo(a.id)} at {first} and {echo(b.id)} at {second} {what}"
    report.add(kind, text, (a.id, b.id), (first, second))


def _names(ids: tuple[BufferId, ...]) -> str:
    return "buffers " + ", ".join(echo(id_) for id_ in ids[:8]) + (", …" if len(ids) > 8 else "")
