"""Kernels of plain numbers, for the process that answers questions about choices, which does without numpy: in C++ where they are there, else in Python.

Open divisions of a section between pools, covers of rows, lifted, and crowds of rows in a linear program.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from operator import le, mul, sub
from types import ModuleType
from typing import NamedTuple, Protocol, TypeAlias, cast

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""The least and greatest height of each pool; empty: none."""
VARIABLE, REFERENCE, NATIVE_MODULE = "MEMPLAN_KERNELS", "reference", "solvers.kernels._native"
Given: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...], int, int, bool, int]
"""A part's fields, as the class in C++ gives them."""
Cover: TypeAlias = tuple[list[tuple[int, int]], list[int]]
Broken: TypeAlias = tuple[int, float, list[tuple[int, int]], list[int]]
DividedRow: TypeAlias = tuple[int, int, Sequence[int], Sequence[int]]
"""A row's pool, what is there in any case, and of each class its units and its column in a linear program."""
MOST_EXACT = 1 << 50
"""Heights up to this are divided in C++ as in Python."""
MOST, MOST_ENOUGH, MOST_HEIGHT = 1 << 100, 1 << 84, 1 << 60
"""Costs are below this in C++, also of what has no choice, which costs far more than enough; and all heights and units together come to so much at most."""


class Part(NamedTuple):
    """The divisions that begin with these pools."""

    bound: int
    """No choice in it costs less."""
    chosen: tuple[int, ...]
    loads: tuple[int, ...]
    """What each pool holds by that."""
    seen: int = 0
    """How many prices have bounded it,"""
    last: int = 0
    """and which of them most."""
    is_solved: bool = False
    """Has its own linear program been solved,"""
    note: int = 0
    """and what is known besides, which is kept elsewhere?"""


class PricedPool(NamedTuple):
    """What a pool costs by its height, which is linear in each of some parts."""

    heights: Sequence[int]
    """Where the parts begin, the first at zero,"""
    values: Sequence[int]
    """what each costs there,"""
    slopes: Sequence[int]
    """and what each unit adds;"""
    least: Sequence[int]
    """the least that is reached where each begins: there, or at the end of the one before."""


class PricedSection(NamedTuple):
    """What divisions cost at prices."""

    rest: Sequence[int]
    """By how many classes have a pool, what all others cost at least, and all besides;"""
    due: Sequence[Sequence[int]]
    """by class and pool, what it costs there;"""
    pools: Sequence[PricedPool]

    def fits(self, ends: Sequence[int]) -> bool:
        """Are its numbers no greater than may be, with pools up to these heights?"""
        some = [self.rest, *self.due]
        for pool, end in zip(self.pools, ends, strict=True):
            rises = map(mul, pool.slopes, map(sub, [*pool.heights[1:], end], pool.heights))
            some += [pool.values, pool.slopes, pool.least, list(rises)]
        largest = max(*map(max, some), -min(map(min, some)))
        return 2 * largest * (len(self.rest) + len(self.pools)) < MOST


class OpenDivisions(Protocol):
    """The parts that are open, those that cost less than enough; the cheapest is looked at first, of these the deepest, and of these the last."""

    work: int
    """How many bounds were computed."""
    since: int
    """How many parts were divided since this was last set."""

    def __len__(self) -> int: ...

    def least(self) -> int:
        """The least bound of those that are open; what is enough if none is."""

    def add(self, rest: Sequence[int], due: Sequence[Sequence[int]], pools: Sequence[PricedPool]) -> None:
        """Further prices, which bound all parts (see PricedSection)."""

    def push(
        self, bound: int, chosen: Sequence[int], loads: Sequence[int], seen: int, last: int, is_solved: bool, note: int
    ) -> None:
        """One part more (see Part)."""

    def next(self, work: int, patience: int) -> Given | None:
        """Divide the cheapest, until one is whole and bounded by all prices, or was solved, or so many were divided: that one, which is no longer open.

        None if there is none, or `work` has come to so much.
        """

    def divide(self, chosen: Sequence[int], loads: Sequence[int], bound: int, last: int) -> None:
        """Open all parts that begin as this one and go on by one class."""

    def ahead(self, width: int, work: int) -> Given | None:
        """Divide so many of the cheapest parts to the end, side by side: the cheapest of all divisions. It will not be opened."""

    def around(self, chosen: Sequence[int], loads: Sequence[int], below: int) -> Ranges:
        """The heights of this part and of all open ones with lesser bounds."""

    def heights(self, chosen: Sequence[int], loads: Sequence[int]) -> Ranges:
        """Those of a part."""

    def heights_below(self, value: int, work: int) -> Ranges:
        """The heights of all that may cost less than this value. What takes more work is not divided."""


class CrowdLines(Protocol):
    """Of crowds whose classes may be divided: the line above what one has room for in a range of heights, that which is least at a given one there.

    A line is its value at the low end of the range, and its slope.
    """

    def add(self, pool: int, columns: Sequence[int], votes: Sequence[int], steps: Sequence[int]) -> None:
        """One crowd more: the votes of columns of a linear program, and the heights at which one may have one vote, two, and so on."""

    def lines(self, ranges: Ranges, at: Sequence[float], begin: int) -> list[tuple[float, float]]:
        """The line of each crowd from this one on, with a range and a height for each pool."""

    def broken(
        self, shares: Sequence[float], ranges: Ranges, at: Sequence[float], least: float
    ) -> list[tuple[int, float, float]]:
        """The crowds with more votes than their lines allow by more than this part: the number of each, and its line. `shares` are of all columns."""


class DividedRows(Protocol):
    """Rows with classes that may be divided."""

    def covers(
        self,
        shares: Sequence[float],
        ranges: Ranges,
        at: Sequence[float],
        tops: Sequence[int],
        rooms: Sequence[Sequence[int]],
        least: float,
    ) -> list[Broken]:
        """Lifted covers that have more votes than their lines allow by more than this part: the row of each, that part, and the cover, with the row's steps.

        Of rows in which what is there in part is above the pool's top; covers are those for each of the pool's `rooms`.
        """


@cache
def native() -> ModuleType | None:
    """The compiled kernels; None where they are missing, too old, or not wanted (see .selection)."""
    if os.environ.get(VARIABLE) == REFERENCE:
        return None
    try:
        module = import_module(NATIVE_MODULE)
    except ImportError:
        return None
    return module if hasattr(module, "CrowdLines") else None


def lifted_covers(units: Sequence[int], shares: Sequence[float], room: int) -> list[Cover]:
    """Crowds of a row that has so much room.

    Each is the places of members in the row with their votes, and the least units of members that have one vote together, two, and so on up to all.
    Which of each class is in the pool decides which are tried.
    """
    module = native() if sum(units) <= MOST_HEIGHT and abs(room) <= MOST_HEIGHT else None
    if module is not None:
        return cast(list[Cover], module.lifted_covers(units, shares, room))
    from .python.lifting import lifted_covers

    return lifted_covers(units, shares, room)


def crowd_lines(most: int) -> CrowdLines:
    """Those of no crowd yet, where heights and steps are so much at most."""
    module = native() if most <= MOST_EXACT else None
    if module is not None:
        return cast(CrowdLines, module.CrowdLines())
    from .python.crowds import CrowdLines as Reference

    return Reference()


def divided_rows(rows: Sequence[DividedRow], most: int) -> DividedRows:
    """These rows, where heights are so much at most, and so is what is in a row if all is there."""
    module = native() if most <= MOST_EXACT else None
    if module is not None:
        return cast(DividedRows, module.DividedRows(rows))
    from .python.crowds import DividedRows as Reference

    return Reference(rows)


def divisions(
    homes: Sequence[Sequence[int]],
    units: Sequence[Sequence[int]],
    ends: Sequence[int],
    lowest: Sequence[int],
    always: Sequence[int],
    free: int,
    enough: int,
) -> OpenDivisions:
    """None is open yet. What is divided, in turn: the pools of each class, and its units in all pools. In C++ where that is possible.

    `ends` are the greatest heights, and no pool ends below `lowest`; `always` is what is in each pool in any case. `free` is how much higher all pools
    together may be than that, each class where it takes least.
    """
    heights = sum(map(sum, units)) + sum(ends) + sum(lowest) + sum(always) + abs(free)
    is_countable = heights <= MOST_HEIGHT and enough < MOST_ENOUGH and all(map(le, always, ends))
    module = native() if is_countable else None
    if module is not None:
        return cast(OpenDivisions, module.OpenDivisions(homes, units, ends, lowest, always, free, enough))
    from .python.divisions import OpenDivisions as Reference

    return Reference(homes, units, ends, lowest, always, free, enough)
