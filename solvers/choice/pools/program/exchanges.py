"""A narrower instance: where memories are full at all times, what ends at a moment leaves its room to what begins then, and shares a pool with it.

Some blocks end and others begin that are as high together: where that is hardly by chance, they are one class. A choice for the narrower instance is one
for the whole, but not the other way round, so nothing that is proven of it holds for the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import comb, gcd

import numpy as np

from ....model.instance import Instance
from .writing import class_numbers

MOST_AT_A_MOMENT, MOST_A_BLOCK = 4000, 400
"""Sums that are compared at one moment, and at all moments for each block."""
WORTH = 2
"""So many times fewer classes, at least."""


def narrowed(instance: Instance) -> tuple[Instance | None, int]:
    """The narrower instance, if it has far fewer classes, and how many sums were compared."""
    search = _Search(instance)
    while search.join_once():
        pass
    group = np.array([search.first(number) for number in range(search.classes)], dtype=np.int64)
    is_worth_it = len(np.unique(group)) * WORTH <= search.classes
    pool_class = group[search.number]
    pairs = pool_class[instance.apart]
    if not is_worth_it or (pairs[:, 0] == pairs[:, 1]).any():
        return None, search.compared
    return replace(instance, pool_class=pool_class), search.compared


class _Search:
    """Classes that are joined."""

    def __init__(self, instance: Instance) -> None:
        self.compared = 0
        self.number = class_numbers(instance)
        self.classes = int(self.number.max(initial=-1)) + 1
        open_to = np.ones((self.classes, len(instance.pools)), dtype=bool)
        np.logical_and.at(open_to, self.number, instance.allowed)
        self._open_to = list(open_to)
        self._joined_to = list(range(self.classes))
        self._most = MOST_A_BLOCK * instance.blocks
        self._compared_at = dict[int, dict[int, int]]()
        """By moment, what was compared there last."""
        self._moments = _changes(instance, self.number.tolist())

    def first(self, group: int) -> int:
        """The least class that this one has been joined to."""
        while self._joined_to[group] != group:
            self._joined_to[group] = self._joined_to[self._joined_to[group]]
            group = self._joined_to[group]
        return group

    def join_once(self) -> bool:
        """Go through all moments; true if classes were joined, so that there is less to compare at other moments."""
        has_joined = False
        for moment, changes in enumerate(self._moments):
            change: dict[int, int] = {}
            for group, units in changes:
                first = self.first(group)
                change[first] = change.get(first, 0) + units
            change = {group: units for group, units in change.items() if units}
            if change == self._compared_at.get(moment):
                continue
            self._compared_at[moment] = change
            for together in self._balanced(dict(change)):
                pools = np.logical_and.reduce([self._open_to[group] for group in together])
                if pools.any():
                    least, has_joined = min(together), True
                    self._open_to[least] = pools
                    for group in together:
                        self._joined_to[group] = least
        return has_joined

    def _balanced(self, change: dict[int, int]) -> Iterator[tuple[int, ...]]:
        """Disjoint sets of these, few in each, whose changes add up to nothing, and are higher than so many sums would be equal by chance."""
        step = gcd(*change.values())
        size = 2
        while size <= len(change) and self.compared <= self._most:
            sums = sum(comb(len(change), few) for few in range(2, size + 1))
            heights = sorted(map(abs, change.values()), reverse=True)
            least = 2 * step * sums
            if sum(comb(len(change), part) for part in _halves(size)) > MOST_AT_A_MOMENT:
                return
            found = self._first_balanced(change, size, least) if sum(heights[:size]) >= least else None
            if found is None:
                size += 1
                continue
            yield found
            for group in found:
                del change[group]

    def _first_balanced(self, change: dict[int, int], size: int, least: int) -> tuple[int, ...] | None:
        """The first set of so many of these whose changes add up to nothing, and come to no less than this, up and down; two halves are compared."""
        few, more = _halves(size)
        groups = sorted(change)
        units = [change[group] for group in groups]
        of_sum: dict[int, list[tuple[int, ...]]] = {}
        for half, total in zip(combinations(groups, few), map(sum, combinations(units, few)), strict=True):
            of_sum.setdefault(-total, []).append(half)
        self.compared += comb(len(groups), few) + comb(len(groups), more)
        for half, total in zip(combinations(groups, more), map(sum, combinations(units, more)), strict=True):
            for other in of_sum.get(total, ()):
                self.compared += 1
                if self.compared > self._most:
                    return None
                both = {*half, *other}
                if len(both) == size and sum(abs(change[group]) for group in both) >= least:
                    return tuple(sorted(both))
        return None


def _halves(size: int) -> tuple[int, int]:
    """The sizes of both halves of a set."""
    return size // 2, size - size // 2


def _changes(instance: Instance, number: list[int]) -> list[list[tuple[int, int]]]:
    """For each moment the classes that begin or end, and how many units more of each are live then."""
    part = instance.rect_part
    high = (instance.part_high - instance.part_low)[part].tolist()
    at: dict[int, list[tuple[int, int]]] = {}
    owner = instance.part_block[part].tolist()
    for block, units, start, end in zip(
        owner, high, instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True
    ):
        at.setdefault(start, []).append((number[block], units))
        at.setdefault(end, []).append((number[block], -units))
    return [changes for _, changes in sorted(at.items())]
