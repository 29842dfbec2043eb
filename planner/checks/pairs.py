"""Checks of constraints on pairs: no buffer paired with itself, no pair both kept apart and allowed to share; and conflict lists of compilers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from solvers.model.instance import Ints

from ..model.columns.relations import has_twins, own_ties, pair_columns
from ..model.errors import Code
from ..model.problem import BufferId, Constraints, Problem
from .names import Names
from .report import Place, Report, quoted


def check_pairs(problem: Problem, names: Names, report: Report) -> None:
    for place, a, b in _all_pairs(problem):
        if a == b:
            report.add(Code.SELF_REFERENCE, place, f"relates buffer {quoted(a)} to itself")
    for i, members in enumerate(problem.constraints.different_pool):
        seen: set[BufferId] = set()
        for j, id_ in enumerate(members):
            if id_ in seen:
                text = f"buffer {quoted(id_)} cannot be in a different pool from itself"
                report.add(Code.SELF_REFERENCE, ("constraints", "different_pool", i, j), text)
            seen.add(id_)
    if problem.constraints.exclusions and problem.constraints.conflicts:
        keys = PairKeys(names)
        conflicts = {keys.of(a, b): i for i, (a, b) in enumerate(problem.constraints.conflicts)}
        for i, (a, b) in enumerate(problem.constraints.exclusions):
            other = conflicts.get(keys.of(a, b))
            if other is not None and a != b:
                text = f"buffers {quoted(a)} and {quoted(b)} may share addresses here, but must not by conflict {other}"
                report.add(Code.CONTRADICTION, ("constraints", "exclusions", i), text)


class PairKeys:
    """A number for each unordered pair of buffers."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._count = names.count

    def of(self, a: BufferId, b: BufferId) -> int:
        return self.of_indices(self._names.buffers[a], self._names.buffers[b])

    def of_indices(self, i: int, j: int) -> int:
        return i * self._count + j if i < j else j * self._count + i


def _all_pairs(problem: Problem) -> Iterator[tuple[Place, BufferId, BufferId]]:
    constraints = problem.constraints
    for kind, pairs in (("conflicts", constraints.conflicts), ("exclusions", constraints.exclusions)):
        for i, (a, b) in enumerate(pairs if has_twins(pairs) else ()):
            yield ("constraints", kind, i), a, b
    tied = own_ties(problem)
    if tied is None or (tied.buffer == tied.base).any():
        for i, colocation in enumerate(constraints.colocations):
            yield ("constraints", "colocations", i), colocation.buffer, colocation.base
    for i, penalty in enumerate(constraints.reuse_penalties):
        yield ("constraints", "reuse_penalties", i), penalty.first, penalty.second


def from_lists(lists: Sequence[tuple[BufferId, Iterable[BufferId]]], report: Report) -> Constraints:
    """Return conflict lists as symmetric pairs: naming on one side is enough, and a buffer that names itself says nothing.

    Unknown names are reported at /buffers/i/conflicts/j. Asymmetric lists are also returned as they are.
    """
    place = {name: i for i, (name, _) in reversed(list(enumerate(lists)))}
    whose, named = array("q"), array("q")
    for i, (_, others) in enumerate(lists):
        for j, other in enumerate(others):
            at = place.get(other)
            if at is None:
                report.add(Code.UNKNOWN_BUFFER, ("buffers", i, "conflicts", j), f"there is no buffer {quoted(other)}")
                continue
            whose.append(i)
            named.append(at)
    return named_in_lists([name for name, _ in lists], *(np.array(column, np.int64) for column in (whose, named)))


def named_in_lists(ids: Sequence[BufferId], whose: Ints, named: Ints) -> Constraints:
    """Return the same of lists whose entries are numbers of buffers, and whose each is."""
    if not len(named):
        return Constraints()
    count = len(ids)
    order, listed = _firsts(whose * count + named)
    is_symmetric = np.array_equal(listed, np.sort(listed % count * count + listed // count))
    is_symmetric = is_symmetric and not (listed % count == listed // count).any()
    left, right = np.minimum(whose, named), np.maximum(whose, named)
    apart = np.flatnonzero(left != right)
    first = apart[_firsts(left[apart] * count + right[apart])[0]]
    conflicts = pair_columns(ids, left[first], right[first])
    return Constraints(
        conflicts=conflicts, listed=() if is_symmetric else pair_columns(ids, whose[order], named[order])
    )


def _firsts(keys: Ints) -> tuple[Ints, Ints]:
    """Return where each different key stands first, in order; and the different keys, sorted."""
    different, first = np.unique(keys, return_index=True)
    return np.sort(first), different
