"""Gluing where there are rules that it does not know: it glues without them, and what it finds is mended."""

from __future__ import annotations

import numpy as np

from ...kernels import Selection
from ...kernels.columns import Columns, columns
from ...kernels.interface import Report
from ...model.instance import Instance, Ints
from .mending import Mending
from .pieces import Pieces
from .tiles import tiles_of

GLUING = 4
"""All but one of so many parts of the work are for gluing."""


class Relaxed:
    """Glues without the rules and mends."""

    def __init__(self, instance: Instance, selection: Selection) -> None:
        self._instance, self._selection = instance, selection

    def lower(
        self, sections: int, given: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        """Glue and mend, again and again while gluing ends soon; return the best placement and the work it took."""
        best, peak, done = start, self._instance.end_of(start), 0
        tiles = tiles_of(self._instance, enough, peak)
        if tiles is None:
            return start, 0
        plain = tiles.plain(self._instance)
        base_columns = columns(plain)
        mending = Mending(self._instance, tiles, self._selection)
        kernels = self._selection.kernels
        while peak > enough and done < work - work // GLUING and not report(None):
            low, parents, spent = kernels.glued_pieces(
                plain.sections,
                base_columns,
                best[tiles.block],
                enough,
                seed % (1 << 64),
                work - work // GLUING - done,
                lambda _: report(None),
            )
            done += spent
            seed += 1
            if not len(parents):
                break
            height = max(int((low + tiles.size).max()), enough)
            before = mending.done
            low = mending.mend(Pieces(tiles, low, parents), low, height, peak, seed, before + work - done, report)
            done += mending.done - before
            offset = self._placed(given, tiles.block, low)
            if offset is not None and self._instance.end_of(offset) < peak:
                best, peak = offset, self._instance.end_of(offset)
                if report(best):
                    break
        return best, done

    def _placed(self, given: Columns, block: Ints, low: Ints) -> Ints | None:
        """The blocks under all rules, each in turn as low as it fits: fixed ones first, then from the lowest tile to the highest."""
        instance = self._instance
        base = np.zeros(instance.blocks, dtype=np.int64)
        base[block] = low
        is_free = instance.lowest[:, 0] < instance.highest[:, 0]
        return self._selection.kernels.greedy_place(instance.sections, given, np.lexsort((base, is_free)), "lowest")
