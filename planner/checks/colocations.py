"""Checks of colocations: no cycles, one distance between any two buffers, and no conflict among buffers that must lie together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..facts.colocation import Forest, forest_of, forest_of_columns
from ..model.deadline import in_time
from ..model.errors import Code
from ..model.problem import Colocation, Problem
from ..model.relation_columns import own_ties
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
    links = [(names.buffers[c.buffer], names.buffers[c.base]) for c in colocations]
    near = _near(links)
    _check_cycles(colocations, links, near, report)
    return _gather(colocations, links, near, report)


def _check_cycles(
    colocations: Sequence[Colocation], links: list[tuple[int, int]], near: dict[int, list[int]], report: Report
) -> None:
    """Report each cycle of buffers that are based on each other."""
    onward = _links_on_cycles(links, near)
    seen: set[int] = set()
    for start in onward:
        steps: list[int] = []
        here = start
        while here not in seen:
            seen.add(here)
            steps.append(here)
            here = links[onward[here]][1]
        if here in steps:
            cycle = steps[steps.index(here) :]
            names = ", ".join(quoted(colocations[onward[i]].buffer) for i in cycle[:2])
            rest = f" and {len(cycle) - 2} more" if len(cycle) > 2 else ""
            text = f"buffers {names}{rest} are based on each other in a circle"
            report.add(Code.CYCLIC_COLOCATION, ("constraints", "colocations", onward[cycle[-1]]), text)


def _near(links: list[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the links of each buffer: k if it is the base of link k, and ~k if it is the buffer."""
    near: dict[int, list[int]] = {}
    for k, (buffer, base) in enumerate(in_time(links, "checking", "colocation")):
        if buffer != base:
            near.setdefault(base, []).append(k)
            near.setdefault(buffer, []).append(~k)
    return near


def _links_on_cycles(links: list[tuple[int, int]], near: dict[int, list[int]]) -> dict[int, int]:
    """Return a link of each buffer on a cycle, or between two cycles; loose ends are peeled off one by one."""
    bases = {i: sum(k < 0 for k in own) for i, own in near.items()}
    dependents = {i: len(own) - bases[i] for i, own in near.items()}
    loose = [i for i in near if not bases[i] or not dependents[i]]
    peeled: set[int] = set()
    while loose:
        here = loose.pop()
        if here in peeled:
            continue
        peeled.add(here)
        for k in near[here]:
            other, left = (links[k][0], bases) if k >= 0 else (links[~k][1], dependents)
            left[other] -= 1
            if not left[other]:
                loose.append(other)
    if len(peeled) == len(near):
        return {}
    ends = dict.fromkeys(i for link in links if link[0] != link[1] for i in link if i not in peeled)
    return {i: min(~k for k in near[i] if k < 0 and links[~k][1] not in peeled) for i in ends}


def _gather(
    colocations: Sequence[Colocation], links: list[tuple[int, int]], near: dict[int, list[int]], report: Report
) -> _Members:
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
            groups.link[here] = max(near[here][0], ~near[here][0])
            for side in near[here]:
                k = max(side, ~side)
                offset = colocations[k].offset
                other, distance = (links[k][0], offset) if side >= 0 else (links[k][1], -offset)
                place = groups.shift[here] + distance
                if other not in groups.root:
                    groups.root[other], groups.shift[other] = start, place
                    members.append(other)
                    todo.append(other)
                elif groups.shift[other] != place and k not in reported:
                    reported.add(k)
                    tied = colocations[k]
                    implied = groups.shift[links[k][0]] - groups.shift[links[k][1]]
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
