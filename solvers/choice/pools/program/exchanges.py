"""A narrower instance: where memories are full at all times, what ends at a moment leaves its room to what begins then, and shares a pool with it.

In each memory what begins at a moment is as high together as what ends then. So of all that changes, each memory has a set that adds up to nothing, and
whoever are in the same such sets are one class. A choice for the narrower instance is one for the whole, but not the other way round, as not all memories
need be full: nothing that is proven of it holds for the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....model.instance import ADDRESS_LIMIT, Instance, Ints

MOST_CHANGES = (10, 14, 18, 22, 26)
"""Moments with few changes come first: what is joined there leaves fewer elsewhere."""
MOST_SETS = 20_000
"""With more sets that add up to nothing, hardly any of those that change are in the same ones."""
WORTH = 2
"""So many times fewer classes, at least."""
A_MOMENT, SUMS_A_UNIT, MOST_A_BLOCK = 30, 32, 100
"""The work of comparing the changes of a moment, of so many sums one unit, and for each block at most."""


def narrowed(instance: Instance, most: int | None = None) -> tuple[Instance | None, int]:
    """The narrower instance, if it has far fewer classes, and the work of finding it, which ends after about so much."""
    search = _Search(instance, most)
    for changes in MOST_CHANGES:
        while search.join_once(changes):
            pass
    group = np.array([search.first(number) for number in range(search.classes)], dtype=np.int64)
    is_worth_it = len(np.unique(group)) * WORTH <= search.classes
    pool_class = group[search.number]
    pairs = pool_class[instance.apart]
    if not is_worth_it or (pairs[:, 0] == pairs[:, 1]).any():
        return None, search.work
    return replace(instance, pool_class=pool_class), search.work


class _Search:
    """Classes that are joined."""

    def __init__(self, instance: Instance, most: int | None) -> None:
        self.work = 0
        self.number = instance.class_number
        self.classes = int(self.number.max(initial=-1)) + 1
        open_to = np.ones((self.classes, len(instance.pools)), dtype=bool)
        np.logical_and.at(open_to, self.number, instance.allowed)
        self._open_to = list(open_to)
        self._joined_to = list(range(self.classes))
        self._most = MOST_A_BLOCK * instance.blocks if most is None else min(MOST_A_BLOCK * instance.blocks, most)
        self._compared_at = dict[int, dict[int, int]]()
        """By moment, what was compared there last."""
        self._moments = _changes(instance, self.number.tolist())

    def first(self, group: int) -> int:
        """The least class that this one has been joined to."""
        while self._joined_to[group] != group:
            self._joined_to[group] = self._joined_to[self._joined_to[group]]
            group = self._joined_to[group]
        return group

    def join_once(self, most: int) -> bool:
        """Go through all moments with no more changes; true if classes were joined, so that there is less to compare at other moments."""
        has_joined = False
        for moment, changes in enumerate(self._moments):
            if self.work > self._most:
                return False
            self.work += 1
            change: dict[int, int] = {}
            for group, units in changes:
                first = self.first(group)
                change[first] = change.get(first, 0) + units
            change = {group: units for group, units in change.items() if units}
            if len(change) > most or not _is_balanced(change) or change == self._compared_at.get(moment):
                continue
            self._compared_at[moment] = change
            for together in self._inseparable(change):
                pools = np.logical_and.reduce([self._open_to[group] for group in together])
                if pools.any():
                    least, has_joined = min(together), True
                    self._open_to[least] = pools
                    for group in together:
                        self._joined_to[group] = least
        return has_joined

    def _inseparable(self, change: dict[int, int]) -> Iterator[tuple[int, ...]]:
        """Those that are in the same of all sets whose changes add up to nothing."""
        balanced, compared = _balanced(list(change.values()))
        self.work += A_MOMENT + compared // SUMS_A_UNIT
        if balanced is None:
            return
        alike: dict[bytes, list[int]] = {}
        for number, group in enumerate(change):
            alike.setdefault((balanced >> number & 1).tobytes(), []).append(group)
        yield from (tuple(groups) for groups in alike.values() if len(groups) > 1)


def _balanced(units: list[int]) -> tuple[Ints | None, int]:
    """The sets of these that add up to nothing, as bits, unless there are too many; and how many sums were compared. Two halves are."""
    half = len(units) // 2
    few, more = _sums(units[:half]), _sums(units[half:])
    order = np.argsort(more, kind="stable")
    begin, end = (np.searchsorted(more[order], -few, side) for side in ("left", "right"))
    many = end - begin
    found, compared = int(many.sum()), len(few) + len(more)
    if found > MOST_SETS:
        return None, compared
    among = np.arange(found) - np.repeat(np.cumsum(many) - many, many)
    matching = order[np.repeat(begin, many) + among]
    return np.repeat(np.arange(len(few)), many) | matching << half, compared + found


def _is_balanced(change: dict[int, int]) -> bool:
    """Do all changes add up to nothing, and are they no higher than can be added?"""
    units = change.values()
    return not sum(units) and sum(map(abs, units)) < ADDRESS_LIMIT


def _sums(units: list[int]) -> Ints:
    """The sum of each set of these; bit by bit, the set's number says who is in it."""
    sums = np.zeros(1, dtype=np.int64)
    for each in units:
        sums = np.concatenate([sums, sums + each])
    return sums


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
