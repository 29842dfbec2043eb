"""Packs the core first: the few blocks that take most of the room are packed by the exact search, and the others go where room is left."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..bounds.one_pool import pool_bound
from ..geometry.presolve import restrict
from ..kernels import Selection
from ..kernels.columns import Columns, columns
from ..kernels.interface import Report, TooLarge
from ..model.instance import Instance, Ints
from ..model.solver import Feature
from .improve import Improver, Lowering, Run, is_plain
from .layout import lives

MOST_IN_CORE = 2_000
CORES = (2, 6, 4, 8)
"""Each core begins with this many eighths of the most blocks that a core may have. Small ones are quick; the largest cannot grow."""
LEAST_OUTSIDE = 4
"""There must be this many times as many blocks outside the core: otherwise the core is no small part."""
BLOCKS_A_UNIT, WIDTH_A_UNIT = 4, 400
"""For a unit of work this many blocks are looked through, or blocks placed that live in this many sections together."""
SEARCHING, IMPROVING = 4, 16
"""The search of a core takes at most 1/SEARCHING of the work that is left, and improving its result 1/IMPROVING."""


class Core(Improver):
    """Packs the blocks that take most room as low as can be, puts the others into the room left, and improves the result.

    Strong where few blocks are large and live long, and thousands of small ones come and go between them.
    """

    name: ClassVar[str] = "core"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY})

    def kernel(self, instance: Instance, selection: Selection) -> Lowering | None:
        return _Run(instance, selection).lower if is_plain(instance) else None


class _Run(Run):
    """One run: core after core, as long as there is work left."""

    def __init__(self, instance: Instance, selection: Selection) -> None:
        super().__init__(instance, selection)
        self.by_area = np.argsort(-areas(instance), kind="stable")
        self.by_size = np.argsort(-instance.block_high, kind="stable")
        self.look = instance.blocks // BLOCKS_A_UNIT
        """The work of looking at all blocks."""
        self.placing = self.look + int((instance.rect_end - instance.rect_start).sum()) // WIDTH_A_UNIT
        """The work of placing them."""

    def lower(
        self, sections: int, given: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        """Try core after core; return the best placement and the work it took."""
        best, peak = start, self.peak(start)

        def keep(offset: Ints) -> bool:
            """Keep the placement if it is better; true if the search can end."""
            nonlocal best, peak
            if self.peak(offset) >= peak:
                return report(None)
            best, peak = offset, self.peak(offset)
            return report(best) or peak <= enough

        def improve(offset: Ints, part: int) -> bool:
            offset, spent = self.kernels.improve(sections, given, offset, enough, seed, part, lambda _: report(None))
            self.done += spent
            return keep(offset)

        for count in cores(self.instance.blocks):
            if self.done >= work:
                break
            until = self.done + (work - self.done) // 4 * 3
            offset = self._grown(given, count, enough, seed, until, report)
            if offset is not None and (keep(offset) or improve(offset, max(work - self.done, 0) // IMPROVING)):
                return best, self.done
        if self.done < work:
            improve(best, work - self.done)
        return best, self.done

    def _grown(self, given: Columns, count: int, enough: int, seed: int, until: int, report: Report) -> Ints | None:
        """The best placement from a growing core: blocks that live where something ends too high join it."""
        best: Ints | None = None
        core = self.by_area[:count]
        most = most_in_core(self.instance.blocks)
        while len(core) <= most and self.done < until and not report(None):
            packed = self._packed(core, seed, (until - self.done) // SEARCHING, report)
            offset = None if packed is None else self._placed(given, packed)
            if offset is None:
                break
            if best is None or self.peak(offset) < self.peak(best):
                best = offset
            if self.peak(best) <= enough:
                break
            grown = np.union1d(core, self._beside_what_ends_above(offset, enough))
            if len(grown) == len(core):
                break
            core, seed = grown, seed + 1
        return best

    def _beside_what_ends_above(self, offset: Ints, enough: int) -> Ints:
        """All blocks that live in a section in which some block ends above `enough`."""
        above = offset + self.instance.block_high > enough
        steps = np.zeros(self.instance.sections + 1, dtype=np.int64)
        np.add.at(steps, self.birth[above], 1)
        np.add.at(steps, self.death[above], -1)
        hot = np.concatenate([[0], np.cumsum(np.cumsum(steps) > 0)])
        return np.flatnonzero(hot[self.death] > hot[self.birth])

    def _packed(self, blocks: Ints, seed: int, work: int, report: Report) -> Ints | None:
        """Pack these blocks as low as can be within this work; return them from the lowest to the highest."""
        piece = restrict(self.instance, np.sort(blocks), [0])
        self.done += self.look
        bound = pool_bound(piece.instance, 0)
        try:
            _, offset, _, _, spent = self.kernels.search(
                sections=piece.instance.sections,
                columns=columns(piece.instance),
                bound=0 if bound is None else bound.value,
                incumbent=None,
                fit=False,
                seed=seed,
                threads=1,
                work=work,
                max_pairs=self.most_pairs,
                report=lambda _offset, _bound: report(None),
            )
        except TooLarge:
            return None
        self.done += spent
        return None if offset is None else piece.blocks[np.argsort(offset, kind="stable")]

    def _placed(self, given: Columns, packed: Ints) -> Ints | None:
        """Place all blocks: those of the core no higher than they were, the others by size into the room left."""
        self.done += self.placing
        order = np.concatenate([packed, self.by_size[~np.isin(self.by_size, packed)]])
        return self.kernels.greedy_place(self.instance.sections, given, order, "lowest")


def areas(instance: Instance) -> npt.NDArray[np.float64]:
    """Room times time of each block, as floats: the products are too large for whole numbers."""
    birth, death = lives(instance)
    return instance.block_high.astype(np.float64) * (death - birth)


def core_weight(instance: Instance) -> int:
    """The percentage of all blocks' room and time that the largest core takes."""
    area = np.sort(areas(instance))[::-1]
    whole = float(area.sum())
    return int(100 * float(area[: most_in_core(len(area))].sum()) / whole) if whole else 0


def most_in_core(blocks: int) -> int:
    """The greatest size of a core."""
    return min(MOST_IN_CORE, blocks // (1 + LEAST_OUTSIDE))


def cores(blocks: int) -> list[int]:
    """The sizes of the cores to begin with."""
    most = most_in_core(blocks)
    return [most * eighths // 8 for eighths in CORES if most * eighths >= 8]
