"""Which heights of the pools are possible where their sum is held: what is live at the fullest sections fills them nearly to the last unit.

At a section at which all but d units of the sum are live, no pool is higher than what it holds there, and d more. What it may hold there are sums of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import TYPE_CHECKING

from ..program.program import Costs, Heights, Program, Section

if TYPE_CHECKING:
    from ....model.instance import Instance  # the process that answers questions does without numpy

MOST_SUMS = 1 << 20
"""With more heights than this, in steps that divide all sizes, sums are not listed."""
SUMS_A_UNIT = 1 << 14
"""Heights that are possible or not, looked at for one unit of work: a section may have a thousand sizes, and a pool a million heights."""


def is_held_by_sum(instance: Instance, program: Program, held: int) -> bool:
    """Do the terms before this one hold the sum of the peaks, and nothing else, and are rows and peaks the same?

    No parts may share addresses while both are live: what is live at a section would be less than the sum of their sizes.
    """
    if len(instance.exclusions) or len(instance.part_block) > instance.blocks:
        return False
    first: Costs = program.terms[0]
    is_sum = held == 1 and not first.is_largest and not any(map(any, first.of_homes))
    is_sum &= len(set(first.of_peaks)) == 1 and first.of_peaks[0] > 0
    return is_sum and not any(room.reserved or room.spare for room in program.rooms)


class Reachable:
    """The heights of pools whose sum is at most this."""

    def __init__(
        self, program: Program, most: int, full: Sequence[Section], stopped: Callable[[], object] = lambda: False
    ) -> None:
        self.work = 0
        self._most, self._pools = most, len(program.rooms)
        self._live = 0
        """What is live at the fullest section."""
        self._sums = list[tuple[int, list[int]]]()
        """For some sections: what is not live there, and the sums that each pool may hold, as bits of a number."""
        self._step = 1
        self._find(program, full, stopped)

    def within(self, heights: Heights) -> Heights:
        """The same ranges without heights at their ends that are impossible; empty: none is possible."""
        ends = [list(each) for each in heights]
        while True:
            before = [tuple(each) for each in ends]
            self.work += len(self._sums) * self._pools * (self._most // self._step) // SUMS_A_UNIT
            for free, sums in self._sums:
                for (low, high), of_pool, mine in zip(before, sums, ends, strict=True):
                    least, most = self._next(of_pool, low - free), self._last(of_pool, high)
                    if least is None or most is None:
                        return ()
                    mine[0], mine[1] = max(mine[0], least), min(mine[1], most + free)
            lows, highs = sum(low for low, _ in ends), sum(high for _, high in ends)
            for mine in ends:
                low, high = mine
                mine[0], mine[1] = max(low, self._live - highs + high), min(high, self._most - lows + low)
            if any(low > high for low, high in ends):
                return ()
            if before == [tuple(each) for each in ends]:
                return tuple((low, high) for low, high in ends)

    def _find(self, program: Program, full: Sequence[Section], stopped: Callable[[], object]) -> None:
        """List the sums at these sections, as far as there is time."""
        units = [size for section in full for _, size in section]
        self._live = max((sum(size for _, size in section) for section in full), default=0)
        self._step = max(gcd(*units), 1)
        if self._most // self._step > MOST_SUMS:
            return
        for section in full:
            if stopped():
                return
            free = self._most - sum(size for _, size in section)
            self._sums.append((free, [self._sums_of(section, pool, program) for pool in range(self._pools)]))

    def _sums_of(self, section: Section, pool: int, program: Program) -> int:
        found = 1
        for group, size in section:
            if program.homes[group] == (pool,):
                found <<= size // self._step
            elif pool in program.homes[group]:
                found |= found << size // self._step
                self.work += found.bit_length() // SUMS_A_UNIT
        return found

    def _next(self, sums: int, low: int) -> int | None:
        """The least sum from this height on."""
        first = max(-(-low // self._step), 0)
        left = sums >> first
        return (first + (left & -left).bit_length() - 1) * self._step if left else None

    def _last(self, sums: int, high: int) -> int | None:
        """The greatest sum up to this height."""
        some = sums & ((1 << high // self._step + 1) - 1) if high >= 0 else 0
        return (some.bit_length() - 1) * self._step if some else None
