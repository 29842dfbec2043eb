"""Groups of buffers that colocations tie together: which buffers move together, at which distance, and what the alignment of memories means for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import gcd, lcm
from typing import NamedTuple, cast

import numpy as np

from solvers.model.instance import ADDRESS_LIMIT, Ints

from ..model.columns.relations import TieColumns
from ..model.problem import BufferId, Colocation, Pool, Problem

MOST_IN_32_BITS = 1 << 31
FOREST = 256
"""With this many colocations or more, they are processed in arrays."""


class Group(NamedTuple):
    """Buffers that move as one; `offsets` are counted from the lowest member."""

    members: tuple[int, ...]
    offsets: tuple[int, ...]


def groups(ids: Iterable[BufferId], colocations: Iterable[Colocation]) -> tuple[Group, ...]:
    """Return the groups of two or more buffers: groups by their first member, members by index, both in input order."""
    tied = tuple(colocations)
    if not tied:
        return ()
    index = ids if isinstance(ids, dict) else {id_: i for i, id_ in enumerate(ids)}
    forest = forest_of(index, tied)
    if forest is not None:
        return tuple(forest.groups())
    neighbours: dict[int, list[tuple[int, int]]] = {}
    for colocation in tied:
        buffer, base = index[colocation.buffer], index[colocation.base]
        neighbours.setdefault(base, []).append((buffer, colocation.offset))
        neighbours.setdefault(buffer, []).append((base, -colocation.offset))
    found: list[Group] = []
    seen: set[int] = set()
    for first in sorted(neighbours):
        if first in seen:
            continue
        place = {first: 0}
        todo = [first]
        while todo:
            here = todo.pop()
            for other, distance in neighbours[here]:
                if other not in place:
                    place[other] = place[here] + distance
                    todo.append(other)
        seen.update(place)
        low = min(place.values())
        members = tuple(sorted(place))
        found.append(Group(members, tuple(place[m] - low for m in members)))
    return tuple(found)


class Forest(NamedTuple):
    """Colocations that tie each buffer to one base at most, without cycles, so that they cannot contradict each other. In arrays."""

    members: Ints
    """All tied buffers, group by group in the order of their first members; input order within a group."""
    offsets: Ints
    """The distance of each from its group's lowest member."""
    begin: Ints
    """The first entry of each group, and the number of entries at the end."""

    def groups(self) -> Iterator[Group]:
        members, offsets = self.members.tolist(), self.offsets.tolist()
        for begin, end in pairwise(self.begin.tolist()):
            yield Group(tuple(members[begin:end]), tuple(offsets[begin:end]))


def forest_of(index: Mapping[BufferId, int], colocations: Sequence[Colocation]) -> Forest | None:
    """Return the forest; None if the colocations are no forest, or so few that one by one is faster."""
    if len(colocations) < FOREST or sum(each.offset for each in colocations) >= ADDRESS_LIMIT:
        return None
    count = len(colocations)
    child = np.fromiter((index[tie.buffer] for tie in colocations), np.int64, count)
    base = np.fromiter((index[tie.base] for tie in colocations), np.int64, count)
    return _forest(len(index), child, base, np.fromiter((each.offset for each in colocations), np.int64, count))


def forest_of_columns(ties: TieColumns) -> Forest | None:
    """Return the forest; None if the colocations are no forest."""
    most = int(ties.offset.max(initial=0))
    if most * len(ties) >= ADDRESS_LIMIT and sum(ties.offset.tolist()) >= ADDRESS_LIMIT:
        return None
    return _forest(len(ties.ids), ties.buffer, ties.base, ties.offset)


def _forest(count: int, child: Ints, base: Ints, offset: Ints) -> Forest | None:
    """Return the forest of so many buffers. Numbers have as few bits as they need: there may be millions of ties."""
    is_child = np.zeros(count, dtype=np.bool_)
    is_child[child] = True
    if np.count_nonzero(is_child) < len(child) or (child == base).any():
        return None
    up = np.arange(count, dtype=np.int32)
    up[child] = base
    farthest = min(int(offset.max(initial=0)) * len(child), ADDRESS_LIMIT)  # which all offsets together do not reach
    distance = np.zeros(count, dtype=np.min_scalar_type(-1 - farthest))
    distance[child] = offset
    for _ in range(count.bit_length() + 1):  # each pass doubles the distance to the root
        if not is_child[up].any():
            break
        distance += distance[up]
        up = up[up]
    if is_child[up].any():
        return None
    is_child[base] = True
    members = np.flatnonzero(is_child).astype(np.int32)
    first = np.empty(count, dtype=np.int32)
    first[up[members[::-1]]] = members[::-1]  # the last one written stays
    del is_child
    up = up[members]
    up = first[up]
    del first
    order = up.astype(np.int64)
    del up
    order <<= 32
    order |= members
    order.sort()
    members = order.astype(np.int32)  # its lower half
    order >>= 32
    begin = np.flatnonzero(np.append(True, order[1:] != order[:-1]))
    del order
    offsets = distance[members]
    lowest = np.minimum.reduceat(offsets, begin)
    begin = np.append(begin, len(members))
    offsets -= np.repeat(lowest, np.diff(begin))
    return Forest(cast(Ints, members), offsets, begin)


FAR = 2 * ADDRESS_LIMIT
"""No address is so high."""


class Congruence(NamedTuple):
    """The numbers that are congruent to `residue` modulo `modulus`."""

    modulus: int = 1
    residue: int = 0

    def and_also(self, other: Congruence) -> Congruence | None:
        """Return the numbers that satisfy both (Chinese remainder); None if there is none."""
        common = gcd(self.modulus, other.modulus)
        if (self.residue - other.residue) % common:
            return None
        modulus = self.modulus // common * other.modulus
        step = other.modulus // common
        times = (
            (other.residue - self.residue) // common * pow(self.modulus // common, -1, step) % step if step > 1 else 0
        )
        return Congruence(modulus, (self.residue + self.modulus * times) % modulus)

    def at_least(self, low: int) -> int:
        """The least number >= low that satisfies it."""
        return low + (self.residue - low) % self.modulus

    def at_most(self, high: int) -> int:
        """The greatest number <= high that satisfies it."""
        return high - (high - self.residue) % self.modulus


def joined(rules: Iterable[Congruence]) -> Congruence | None:
    """Return the numbers below FAR that satisfy all rules; None if there is none.

    As soon as only one number can be left there, the other rules are applied to this one: products of many moduli have thousands of digits.
    """
    whole = Congruence()
    for rule in rules:
        if whole.modulus >= FAR:
            if (whole.residue - rule.residue) % rule.modulus:
                return None
            continue
        both = whole.and_also(rule)
        if both is None or (both.modulus >= FAR and both.residue >= FAR):
            return None
        whole = both
    return whole


def eased(pools: Sequence[Pool], colocations: Sequence[Colocation]) -> tuple[tuple[Pool, ...], int]:
    """Return the pools with alignments that hold inside tensors too, and the alignment that all other tensors get instead.

    A pool's alignment is meant for what is allocated there, not for a slice at offset 8 of it.
    """
    inner = gcd(*(colocation.offset for colocation in colocations))
    easy = tuple(replace(pool, alignment=gcd(pool.alignment, inner)) for pool in pools)
    raised = [pool.alignment for pool, other in zip(pools, easy, strict=True) if pool.alignment != other.alignment]
    return easy, lcm(*raised)


def aligned(problem: Problem, alignment: int) -> Problem:
    """Return the problem with memories of this alignment in place of their own. Buffers keep theirs, and what lies inside others its place."""
    colocations = problem.constraints.colocations
    pools, raised = eased([replace(pool, alignment=alignment) for pool in problem.pools], colocations)
    if raised == 1:
        return replace(problem, pools=pools)
    inside = {colocation.buffer for colocation in colocations}
    buffers = tuple(
        each if each.id in inside else replace(each, alignment=lcm(each.alignment, raised)) for each in problem.buffers
    )
    return replace(problem, pools=pools, buffers=buffers)
