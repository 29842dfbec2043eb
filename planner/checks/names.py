"""Names that a problem defines and names that it mentions: everything mentioned exists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np

from solvers.model.instance import Term

from ..model.columns.buffers import ids
from ..model.columns.numbered import Numbered
from ..model.columns.pools import PoolColumns
from ..model.columns.relations import ids_in, own_ties
from ..model.deadline import CHECKING, in_time, tick
from ..model.errors import Code
from ..model.problem import MAX_ADDRESS, MAX_TIME, NO_CONSTRAINTS, BufferId, Problem
from .report import Place, Report, quoted
from .values import check_number, check_numbers, check_text


class Names:
    """The position of each buffer and pool in its list."""

    def __init__(self, problem: Problem) -> None:
        self.different: Sequence[BufferId] = ()
        """The ids of the buffers, once they are known to be different."""
        self.count = len(problem.buffers)
        self._pools = problem.pools

    @cached_property
    def pools(self) -> Mapping[str, int]:
        """Return the position of each pool, and of the first if several have a name."""
        if isinstance(self._pools, PoolColumns):
            return _Positions(self._pools.texts)
        positions: dict[str, int] = {}
        for i, pool in enumerate(self._pools):
            positions.setdefault(pool.name, i)
        return positions

    @cached_property
    def buffers(self) -> dict[BufferId, int]:
        """Return the position of each buffer; few problems name their buffers."""
        return {id_: i for i, id_ in enumerate(self.different)}


class _Positions(Mapping[str, int]):
    """Where each of many names is first, without an object for each."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = Numbered(names)

    def __getitem__(self, name: str) -> int:
        found = self._names.number(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def are_different(ids: Sequence[BufferId]) -> bool:
    """True if no id appears twice. Comparing hashes takes less memory than a set of the ids; if all hashes differ, so do the ids."""
    if isinstance(ids, range):
        return True
    hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
    hashes.sort()
    return bool((hashes[1:] != hashes[:-1]).all()) or len(set(ids)) == len(ids)


def check_heading(problem: Problem, report: Report) -> None:
    """Check the problem's name and its steps."""
    if isinstance(problem.name, str):
        check_text(report, ("name",), problem.name)
    for i, (time, name) in enumerate(problem.steps):
        check_number(report, ("steps", i, "time"), time, -MAX_TIME, MAX_TIME)
        check_text(report, ("steps", i, "name"), name)


def require_ids_as_texts(problem: Problem, listed: Iterable[BufferId]) -> None:
    """Raise BadInput if two of these ids of the problem's buffers are the same text: for files in which ids are texts, whoever writes them."""
    listed = list(listed)
    if len({type(id_) for id_ in listed}) < 2:
        return
    report, seen = Report(), dict[str, BufferId]()
    for id_ in listed:
        if seen.setdefault(str(id_), id_) != id_:
            text = f"ids are texts there, and those of two buffers are {quoted(str(id_))}; give one of them another id"
            report.add(Code.DUPLICATE_ID, _place_of(problem, id_), text)
    report.raise_if_any()


def _place_of(problem: Problem, id_: BufferId) -> Place:
    """Return where the buffer's id is, which may be one of an alternative."""
    for i, other in enumerate(ids(problem.buffers)):
        if other == id_:
            return "buffers", i, "id"
    for g, group in enumerate(() if problem.variants is None else problem.variants.groups):
        for a, alternative in enumerate(group.alternatives):
            for i, buffer in enumerate(alternative.buffers):
                if buffer.id == id_:
                    return "variants", "groups", g, "alternatives", a, "buffers", i, "id"
    return ("buffers",)


def check_mentions(problem: Problem, names: Names, report: Report) -> None:
    """Check that everything named in constraints and objective exists, and the numbers beside it."""
    for place, id_ in () if _are_all_known(problem, names) else _mentions(problem):
        tick(CHECKING)
        if id_ not in names.buffers or isinstance(id_, bool):
            report.add(Code.UNKNOWN_BUFFER, place, f"there is no buffer {quoted(id_)}{_other_type(id_, names)}")
    constraints = problem.constraints
    tied = own_ties(problem)
    if tied is None or not 0 <= int(tied.offset.min()) <= int(tied.offset.max()) <= MAX_ADDRESS:
        offsets = [each.offset for each in constraints.colocations]
        check_numbers(report, ("constraints", "colocations"), "offset", offsets)
    check_numbers(
        report, ("constraints", "reuse_penalties"), "cost", [each.cost for each in constraints.reuse_penalties]
    )
    _was(problem, names, report)


def check_terms(problem: Problem, report: Report) -> None:
    place: Place = ("objective", "terms")
    if not problem.terms:
        report.add(Code.INVALID_VALUE, place, "must name at least one term; leave it out to minimise the sum of peaks")
    seen: set[Term] = set()
    for i, term in enumerate(problem.terms):
        if term in seen:
            report.add(Code.INVALID_VALUE, (*place, i), f"term {quoted(str(term))} is named twice")
        seen.add(term)
    check_number(report, ("objective", "peak_price"), problem.peak_price)


def _are_all_known(problem: Problem, names: Names) -> bool:
    """True if everything named in constraints and objective exists; faster than finding what does not."""
    constraints = problem.constraints
    if names.different and own_ties(problem) is not None:
        constraints = replace(constraints, colocations=())
    if constraints == NO_CONSTRAINTS and not constraints.listed and not problem.was:
        return True
    known = names.buffers.keys()
    lists: Iterator[Iterable[BufferId]] = chain(
        *(ids_in(pairs) for pairs in (constraints.conflicts, constraints.exclusions, constraints.listed)),
        constraints.same_pool,
        constraints.different_pool,
        ((each.buffer for each in constraints.colocations), (each.base for each in constraints.colocations)),
        ((each.first for each in constraints.reuse_penalties), (each.second for each in constraints.reuse_penalties)),
        ((was.buffer for was in problem.was),),
    )
    return all(id_ in known and (type(id_) is str or type(id_) is int) for id_ in chain.from_iterable(lists))


def _mentions(problem: Problem) -> Iterator[tuple[Place, BufferId]]:
    """Yield every place in the constraints and the objective that names a buffer."""
    constraints = problem.constraints
    some = ("conflicts", constraints.conflicts), ("exclusions", constraints.exclusions), ("listed", constraints.listed)
    for kind, pairs in some:
        for i, (a, b) in enumerate(pairs):
            yield ("constraints", kind, i, 0), a
            yield ("constraints", kind, i, 1), b
    for i, colocation in enumerate(constraints.colocations):
        yield ("constraints", "colocations", i, "buffer"), colocation.buffer
        yield ("constraints", "colocations", i, "base"), colocation.base
    for kind, sets in (("same_pool", constraints.same_pool), ("different_pool", constraints.different_pool)):
        for i, members in enumerate(sets):
            for j, id_ in enumerate(members):
                yield ("constraints", kind, i, j), id_
    for i, penalty in enumerate(constraints.reuse_penalties):
        yield ("constraints", "reuse_penalties", i, "first"), penalty.first
        yield ("constraints", "reuse_penalties", i, "second"), penalty.second
    for i, was in enumerate(problem.was):
        yield ("objective", "was", i, "buffer"), was.buffer


def _other_type(id_: object, names: Names) -> str:
    """Return a hint if the same id exists with the other type, as 1 and "1" are easily confused."""
    if isinstance(id_, str):
        twin = int(id_) if id_.isascii() and id_.isdigit() and len(id_) < 20 else None
    else:
        twin = None
        if str(id_) in names.buffers:
            return f", but there is one with the string {quoted(str(id_))} as id"
    return f", but there is one with the number {twin} as id" if twin is not None and twin in names.buffers else ""


def _was(problem: Problem, names: Names, report: Report) -> None:
    seen: set[BufferId] = set()
    for i, was in enumerate(in_time(problem.was, CHECKING)):
        place: Place = ("objective", "was", i)
        if was.buffer in seen:
            text = f"buffer {quoted(was.buffer)} has two old places"
            report.add(Code.DUPLICATE_ID, (*place, "buffer"), text)
        seen.add(was.buffer)
        if was.pool not in names.pools:
            report.add(Code.UNKNOWN_POOL, (*place, "pool"), f"there is no pool {quoted(was.pool)}")
    check_numbers(report, ("objective", "was"), "offset", [was.offset for was in problem.was])
