"""Lowers a placement in windows of time around what ends too high: all that is born and dies in one is placed again, beside what lives on.

A window holds hundreds of blocks, however many there are in all. So every pass can be tried there, some are moved after that, and each window keeps
what is best for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...fitting.orders import PASSES
from ...kernels.columns import Columns
from ...kernels.interface import Kernels
from ...model.instance import Bools, Instance, Ints

LEAST, TIMES_LIVE = 400, 3
"""On either side of what ends too high, a window reaches over so many births, or so many times the blocks that are live there if these are more."""
LONG = 2
"""What lives through that many times these births has no window."""
PAIRS_A_UNIT, LOOKS_A_UNIT = 200, 250
"""For a unit of work a pass looks at so many pairs of blocks, or so many blocks are looked through for those in a window."""


def work_of_pass(blocks: int, live: int) -> int:
    """How much a pass over so many blocks, so many of them live at a time, takes."""
    return blocks * live // PAIRS_A_UNIT + 1


class _Window(NamedTuple):
    """The blocks live at some time in it, and those of them that are so only there; the columns, in which the others cannot move."""

    blocks: Ints
    inside: Bools
    sections: int
    columns: Columns
    live: int


class Windows:
    """Of one instance without pairs. `is_over` says whether to stop."""

    def __init__(self, instance: Instance, given: Columns, kernels: Kernels, is_over: Callable[[], bool]) -> None:
        self._given, self._kernels, self._is_over = given, kernels, is_over
        self._high = instance.block_high
        sections, owner = instance.sections, given.part_block[given.rect_part]
        self._birth = np.full(instance.blocks, sections, dtype=np.int64)
        np.minimum.at(self._birth, owner, given.rect_start)
        self._death = self._birth.copy()
        np.maximum.at(self._death, owner, given.rect_end)
        born = np.bincount(self._birth, minlength=sections + 1)
        self._births = np.cumsum(born)
        self._live = np.cumsum(born - np.bincount(self._death, minlength=sections + 1))
        load = np.zeros(sections + 1, dtype=np.int64)
        np.add.at(load, self._birth, self._high)
        np.subtract.at(load, self._death, self._high)
        self._load = np.cumsum(load)

    @property
    def work_of_pass(self) -> int:
        """How much a pass over all blocks takes."""
        return work_of_pass(len(self._high), int(self._live.mean()))

    def lower(self, start: Ints, enough: int, seed: int, work: int) -> tuple[Ints, int]:
        """Offsets at which no window ends higher than before, and the work done. A window need not end lower than one before it, or than `enough`."""
        offset, left = start.copy(), work
        looking = len(self._high) // LOOKS_A_UNIT
        for begin, end in self._around(np.flatnonzero(offset + self._high > enough), offset):
            if left <= looking or self._is_over():
                break
            left -= looking
            window = self._cut(offset, begin, end)
            tops = offset[window.blocks] + self._high[window.blocks]
            if tops.max(where=window.inside, initial=0) <= enough:
                continue
            floor = int(max(enough, tops.max(where=~window.inside, initial=0)))
            offset[window.blocks], done = self._placed(window, offset[window.blocks], floor, seed, left)
            left -= done
            tops = offset[window.blocks] + self._high[window.blocks]
            enough = max(enough, int(tops.max(where=window.inside, initial=0)))
        return offset, work - max(left, 0)

    def _placed(self, window: _Window, start: Ints, enough: int, seed: int, work: int) -> tuple[Ints, int]:
        """The window's offsets, and the work done.

        Passes and moving take half of the work at most. Where moving gains nothing, it begins again from the start, with half of what is left.
        """

        def report(_offset: Ints | None) -> bool:
            return self._is_over()

        each = work_of_pass(len(window.blocks), window.live)
        passes = PASSES[: work // 4 // each]
        offset = start
        if passes:
            best = self._kernels.greedy(
                sections=window.sections,
                columns=window.columns,
                passes=passes,
                start=start,
                enough=enough,
                threads=1,
                report=report,
            )
            offset = start if best is None else best
        done = len(passes) * each
        until = work // 2
        for origin in (offset, start):
            peak = (offset + self._high[window.blocks]).max()
            if peak <= enough or self._is_over():
                break
            left = max(until - done, 0)
            moved, looks = self._kernels.improve(window.sections, window.columns, origin, enough, seed, left, report)
            done += looks
            if (moved + self._high[window.blocks]).max() < peak:
                offset = moved
                break
            until = done + max(work - done, 0) // 2
        return offset, done

    def _around(self, high: Ints, offset: Ints) -> list[tuple[int, int]]:
        """Windows around these blocks, the highest first. They end where little is live, and may overlap."""
        high = high[self._death[high] > self._birth[high]]
        high = high[np.argsort(self._birth[high], kind="stable")]
        reach = np.maximum(LEAST, TIMES_LIVE * self._live[self._birth[high]])
        first, last = self._births[self._birth[high]], self._births[self._death[high] - 1]
        is_short = last - first <= LONG * reach
        high, reach, first, last = high[is_short], reach[is_short], first[is_short], last[is_short]
        if not len(high):
            return []
        is_far = first[1:] > np.maximum.accumulate(last + reach // 2)[:-1]
        group = np.flatnonzero(np.concatenate([[True], is_far]))
        first, last, reach = first[group], np.maximum.reduceat(last, group), np.maximum.reduceat(reach, group)
        births = first - reach, first - reach // 2, last + reach // 2, last + reach
        edges = np.minimum(np.searchsorted(self._births, births), len(self._load) - 1)
        tops = np.maximum.reduceat(offset[high] + self._high[high], group)
        return [
            (self._emptiest(far_before, before), self._emptiest(after, far_after))
            for far_before, before, after, far_after in edges.T[np.argsort(-tops, kind="stable")].tolist()
        ]

    def _emptiest(self, first: int, last: int) -> int:
        """The section in which least is live."""
        return first + int(np.argmin(self._load[first : last + 1]))

    def _cut(self, offset: Ints, begin: int, end: int) -> _Window:
        """The window between these sections."""
        given = self._given
        is_in = (self._birth < end) & (self._death > begin)
        blocks = np.flatnonzero(is_in)
        parts = np.flatnonzero(is_in[given.part_block])
        rects = np.flatnonzero((given.rect_start < end) & (given.rect_end > begin))
        start, stop = np.maximum(given.rect_start[rects], begin), np.minimum(given.rect_end[rects], end)
        times = np.unique(np.concatenate([start, stop]))
        inside = (self._birth[blocks] >= begin) & (self._death[blocks] <= end)
        columns = given._replace(
            part_block=np.searchsorted(blocks, given.part_block[parts]),
            part_low=given.part_low[parts],
            part_high=given.part_high[parts],
            rect_part=np.searchsorted(parts, given.rect_part[rects]),
            rect_start=np.searchsorted(times, start),
            rect_end=np.searchsorted(times, stop),
            modulus=given.modulus[blocks],
            residue=given.residue[blocks],
            lowest=np.where(inside, given.lowest[blocks], offset[blocks]),
            highest=np.where(inside, given.highest[blocks], offset[blocks]),
        )
        return _Window(blocks, inside, len(times) - 1, columns, int(self._live[begin:end].max()))
