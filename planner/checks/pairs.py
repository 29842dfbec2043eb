"""Checks of constraints on pairs: no buffer paired with itself, no pair both kept apart and allowed to share; and conflict lists of compilers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..model.columns import ids
from ..model.errors import Code
from ..model.problem import BufferId, Constraints, Pair, Problem
from ..model.tie_columns import own_ties
from .names import Names
from .report import Place, Report, quoted


def has_the_rules_of_its_neighbour(problem: Problem) -> bool:
    """True if the constraints are those of a problem known to be sound, between buffers of the same names."""
    neighbour = problem.facts.neighbour
    if neighbour is None or neighbour.rules is None or neighbour.rules[0] is not problem.constraints:
        return False
    return [*ids(problem.buffers)] == [*ids(neighbour.buffers)]


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
        for i, (a, b) in enumerate(pairs):
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
    pairs: dict[Pair, None] = {}
    listed: dict[Pair, None] = {}
    for i, (name, others) in enumerate(lists):
        for j, other in enumerate(others):
            at = place.get(other)
            if at is None:
                report.add(Code.UNKNOWN_BUFFER, ("buffers", i, "conflicts", j), f"there is no buffer {quoted(other)}")
                continue
            listed[name, other] = None
            if at != i:
                pairs[(name, other) if i < at else (other, name)] = None
    symmetric = all(name != other and (other, name) in listed for name, other in listed)
    return Constraints(conflicts=tuple(pairs), listed=() if symmetric else tuple(listed))
