"""Parts of problems: some of the buffers, with their relations to each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..model.problem import BufferId, Colocation, Constraints, Problem
from .colocation import groups


def only(problem: Problem, ids: Iterable[BufferId]) -> Problem:
    """Return the problem with only these buffers. Relations that go through removed buffers are kept."""
    kept = set(ids)
    old = problem.constraints
    constraints = Constraints(
        conflicts=tuple(pair for pair in old.conflicts if kept.issuperset(pair)),
        exclusions=tuple(pair for pair in old.exclusions if kept.issuperset(pair)),
        colocations=_rebased(problem, kept),
        same_pool=_still_together(problem, kept),
        different_pool=_at_least_two(tuple(id_ for id_ in group if id_ in kept) for group in old.different_pool),
        reuse_penalties=tuple(p for p in old.reuse_penalties if p.first in kept and p.second in kept),
    )
    was = tuple(each for each in problem.was if each.buffer in kept)
    return replace(problem, buffers=tuple(b for b in problem.buffers if b.id in kept), constraints=constraints, was=was)


def without(problem: Problem, ids: Iterable[BufferId]) -> Problem:
    """Return the problem without these buffers."""
    gone = set(ids)
    return only(problem, (buffer.id for buffer in problem.buffers if buffer.id not in gone))


def _rebased(problem: Problem, kept: set[BufferId]) -> Sequence[Colocation]:
    """Return the colocations among the kept buffers; a member whose base is gone is tied to the lowest member left."""
    old = problem.constraints.colocations
    if all(tie.buffer in kept and tie.base in kept for tie in old):
        return old
    ids = [buffer.id for buffer in problem.buffers]
    colocations: list[Colocation] = []
    for group in groups(ids, old):
        left = [(offset, i) for i, offset in zip(group.members, group.offsets, strict=True) if ids[i] in kept]
        if left:
            low, base = min(left)
            colocations += [Colocation(ids[i], ids[base], offset - low) for offset, i in left if i != base]
    return tuple(colocations)


def _still_together(problem: Problem, kept: set[BufferId]) -> tuple[tuple[BufferId, ...], ...]:
    """Return the same-pool groups of the kept buffers, including ties through removed ones."""
    old = problem.constraints
    if all(kept.issuperset(group) for group in old.same_pool):
        return old.same_pool
    root: dict[BufferId, BufferId] = {}

    def find(id_: BufferId) -> BufferId:
        while root.setdefault(id_, id_) != id_:
            id_ = root[id_]
        return id_

    for group in (*old.same_pool, *((tie.buffer, tie.base) for tie in old.colocations)):
        for other in group[1:]:
            root[find(other)] = find(group[0])
    together: dict[BufferId, list[BufferId]] = {}
    for buffer in problem.buffers:
        if buffer.id in root and buffer.id in kept:
            together.setdefault(find(buffer.id), []).append(buffer.id)
    return _at_least_two(tuple(group) for group in together.values())


def _at_least_two(found: Iterable[tuple[BufferId, ...]]) -> tuple[tuple[BufferId, ...], ...]:
    return tuple(group for group in found if len(group) > 1)
