"""Checks of colocations: no cycles, one distance between any two buffers, and no conflict among buffers that must lie together."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np

from solvers.model.instance import Ints

from ..facts.colocation import Forest, forest_of, forest_of_columns
from ..model.columns.relations import own_ties
from ..model.columns.rows import FEW
from ..model.deadline import in_time
from ..model.errors import Code
from ..model.problem import Colocation, Problem
from .names import Names
from .report import Report, quoted


class _Members(NamedTuple):
    """Groups one by one."""

    root: dict[int, int]
    """The member that represents its group."""
    shift: dict[int, int]
    """The distance of each member above the root (negative if below)."""
    link: dict[int, int]
    """The first colocation that mentions the member."""
    members: dict[int, list[int]]
    """By root."""


class Groups:
    """Buffers tied together by colocations, by index. Buffers without colocations are in no group."""

    def __init__(self, forest: Forest | None, each: Callable[[], _Members]) -> None:
        self.forest = forest
        """The same in arrays, of most."""
        self._each = each
        """Makes them one by one: most forests are looked at as a whole."""

    @cached_property
    def one_by_one(self) -> _Members:
        return self._each()

    @property
    def root(self) -> dict[int, int]:
        return self.one_by_one.root

    @property
    def shift(self) -> dict[int, int]:
        return self.one_by_one.shift

    @property
    def link(self) -> dict[int, int]:
        return self.one_by_one.link

    @property
    def members(self) -> dict[int, list[int]]:
        return self.one_by_one.members

    @property
    def are_any(self) -> bool:
        return self.forest is not None or bool(self.members)

    def together(self, i: int, j: int) -> bool:
        return i in self.root and self.root[i] == self.root.get(j)


NO_GROUPS = Groups(None, lambda: _Members({}, {}, {}, {}))


def check_colocations(problem: Problem, names: Names, report: Report) -> Groups | None:
    """Return the groups, or None if the colocations contradict themselves."""
    colocations = problem.constraints.colocations
    if not colocations:
        return NO_GROUPS
    before = report.found
    tied = own_ties(problem)
    forest = forest_of(names.buffers, colocations) if tied is None else forest_of_columns(tied)
    if forest is None:
        found = _gathered(colocations, names, report)
        groups = Groups(None, lambda: found)
    else:
        groups = Groups(forest, partial(_of_forest, forest, colocations, names))
    if report.found > before:
        return None
    for i, (a, b) in enumerate(problem.constraints.conflicts):
        _check_conflict(problem, groups, i, names.buffers[a], names.buffers[b], report)
    return groups


def _of_forest(forest: Forest, colocations: Sequence[Colocation], names: Names) -> _Members:
    """Return the groups of a forest; the first member is the root."""
    members, begin = forest.members.tolist(), forest.begin.tolist()
    heads = forest.members[forest.begin[:-1]]
    root = np.repeat(heads, np.diff(forest.begin)).tolist()
    link: dict[int, int] = {}
    for k, colocation in reversed([*enumerate(colocations)]):
        link[names.buffers[colocation.buffer]] = link[names.buffers[colocation.base]] = k
    return _Members(
        dict(zip(members, root, strict=True)),
        dict(zip(members, forest.offsets.tolist(), strict=True)),
        link,
        {members[a]: members[a:b] for a, b in pairwise(begin)},
    )


def _gathered(colocations: Sequence[Colocation], names: Names, report: Report) -> _Members:
    """Return the groups of any colocations, and report their faults."""
    links = _links(colocations, names)
    near = _Near(links)
    _check_cycles(colocations, links, near, report)
    return _gather(colocations, links, near, report)


def _links(colocations: Sequence[Colocation], names: Names) -> Ints:
    """Return the numbers of each colocation's buffer and base."""
    number = names.buffers
    flat = array("i")
    for each in in_time(colocations, "checking", "colocation"):
        flat.append(number[each.buffer])
        flat.append(number[each.base])
    return cast(Ints, np.frombuffer(flat, np.int32).reshape(-1, 2))


class _Near(Collection[int]):
    """The links of each buffer in any, in the order of the links: k if it is the base of link k, and ~k if it is the buffer. Buffers come as they are named first."""

    def __init__(self, links: Ints) -> None:
        numbers = np.flatnonzero(links[:, 0] != links[:, 1]).astype(np.int32)
        nodes = links[numbers, ::-1].ravel()
        sides = np.stack([numbers, ~numbers], axis=1).ravel()
        order = np.argsort(nodes, kind="stable")
        self._sides = sides[order]
        found, first = np.unique(nodes, return_index=True)
        self._buffers = found[np.argsort(first)]
        ends = np.bincount(nodes) if len(nodes) else np.zeros(0, np.int64)
        self._ends = np.cumsum(ends)
        bases = np.bincount(nodes[1::2], minlength=len(ends))
        self.bases, self.dependents = bases.astype(np.int32), (ends - bases).astype(np.int32)
        """How many bases each buffer has, and how many buffers have it as their base."""

    def __getitem__(self, i: int) -> list[int]:
        sides: list[int] = self._sides[self._ends[i - 1] if i else 0 : self._ends[i]].tolist()
        return sides

    def __iter__(self) -> Iterator[int]:
        for begin in range(0, len(self._buffers), FEW):
            yield from self._buffers[begin : begin + FEW].tolist()

    def __len__(self) -> int:
        return len(self._buffers)

    def __contains__(self, i: object) -> bool:
        return i in self._buffers


def _check_cycles(colocations: Sequence[Colocation], links: Ints, near: _Near, report: Report) -> None:
    """Report each cycle of buffers that are based on each other."""
    onward = _links_on_cycles(links, near)
    seen: set[int] = set()
    for start in onward:
        steps: list[int] = []
        here = start
        while here not in seen:
            seen.add(here)
            steps.append(here)
            here = int(links[onward[here], 1])
        if here in steps:
            cycle = steps[steps.index(here) :]
            names = ", ".join(quoted(colocations[onward[i]].buffer) for i in cycle[:2])
            rest = f" and {len(cycle) - 2} more" if len(cycle) > 2 else ""
            text = f"buffers {names}{rest} are based on each other in a circle"
            report.add(Code.CYCLIC_COLOCATION, ("constraints", "colocations", onward[cycle[-1]]), text)


def _links_on_cycles(links: Ints, near: _Near) -> dict[int, int]:
    """Return a link of each buffer on a cycle, or between two cycles; loose ends are peeled off one by one."""
    bases, dependents = near.bases, near.dependents
    loose = [i for i in near if not bases[i] or not dependents[i]]
    peeled: set[int] = set()
    while loose:
        here = loose.pop()
        if here in peeled:
            continue
        peeled.add(here)
        for k in near[here]:
            other, left = (int(links[k, 0]), bases) if k >= 0 else (int(links[~k, 1]), dependents)
            left[other] -= 1
            if not left[other]:
                loose.append(other)
    if len(peeled) == len(near):
        return {}
    are_apart = links[:, 0] != links[:, 1]
    ends = dict.fromkeys(i for i in links[are_apart].ravel().tolist() if i not in peeled)
    return {i: min(~k for k in near[i] if k < 0 and int(links[~k, 1]) not in peeled) for i in ends}


def _gather(colocations: Sequence[Colocation], links: Ints, near: _Near, report: Report) -> _Members:
    """Walk along the links from each buffer; different ways to a buffer must give the same distance."""
    groups = _Members({}, {}, {}, {})
    reported: set[int] = set()
    for start in in_time(near, "checking"):
        if start in groups.root:
            continue
        groups.root[start], groups.shift[start] = start, 0
        members, todo = [start], [start]
        while todo:
            here = todo.pop()
            sides = near[here]
            groups.link[here] = max(sides[0], ~sides[0])
            for side in sides:
                k = max(side, ~side)
                offset = colocations[k].offset
                other, distance = (int(links[k, 0]), offset) if side >= 0 else (int(links[k, 1]), -offset)
                place = groups.shift[here] + distance
                if other not in groups.root:
                    groups.root[other], groups.shift[other] = start, place
                    members.append(other)
                    todo.append(other)
                elif groups.shift[other] != place and k not in reported:
                    reported.add(k)
                    tied = colocations[k]
                    implied = groups.shift[int(links[k, 0])] - groups.shift[int(links[k, 1])]
                    text = (
                        f"puts buffer {quoted(tied.buffer)} {tied.offset} above {quoted(tied.base)}, "
                        f"but other colocations put it {implied} above"
                    )
                    report.add(Code.CONTRADICTION, ("constraints", "colocations", k), text)
        groups.members[start] = members
    return groups


def _check_conflict(problem: Problem, groups: Groups, place: int, i: int, j: int, report: Report) -> None:
    if i == j or not groups.together(i, j):
        return
    a, b = problem.buffers[i], problem.buffers[j]
    low, high = groups.shift[i], groups.shift[j]
    if a.size and b.size and low < high + b.size and high < low + a.size:
        text = f"buffers {quoted(a.id)} and {quoted(b.id)} must not share addresses, but colocations make them overlap"
        report.add(Code.CONTRADICTION, ("constraints", "conflicts", place), text)
