"""Packs a mosaic: blocks that fit together exactly are joined, and the exact search finds a place for the few pieces that are left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ...kernels import Selection
from ...kernels.columns import Columns
from ...kernels.interface import Report, TooLarge
from ...model.instance import Instance, Ints
from ...model.solver import Feature
from ...model.splitmix import mix
from ..improve import Improver, Lowering, Run, is_plain
from .joining import Allows, joined
from .pieces import Piece, fillers

FIRST_SEARCH = 10_000
"""The work of the first search; it doubles after 1, 3, 15, 63 ... attempts."""
LEFT_OUT = (0, 16, 0, 16, 8, 16, 64, 4)
"""In each attempt in turn one of so many joints is left out, or none: a joint may be wrong although it fits."""
LOWERS = 2
"""In every fourth attempt, beginning with this one, the search looks for any lower placement, not only for the lowest possible."""
PART_FOR_LOWERING = 3
"""Such a search takes at least the work that is left divided by this."""
LOOK = 3
"""The work of looking at a piece, once for each joining."""
LEAVES_EMPTY = 3
"""In every fourth attempt, beginning with this one, room that stays empty is not taken for pieces."""


class Mosaic(Improver):
    """Joins blocks that fit together exactly, with room that stays empty among them, and searches for a place for the pieces left.

    Strong where some hundreds of blocks leave no room unused but for a few gaps.
    """

    name: ClassVar[str] = "mosaic"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY})

    def kernel(self, instance: Instance, selection: Selection) -> Lowering | None:
        return _Run(instance, selection).lower if is_plain(instance) else None


class _Run(Run):
    """One run: mosaic after mosaic, with other joints left out each time."""

    def __init__(self, instance: Instance, selection: Selection) -> None:
        super().__init__(instance, selection)
        moduli = np.unique(instance.modulus)
        self.unit = int(moduli[0]) if len(moduli) == 1 else 1
        """Heights are counted in the common alignment."""
        self.height = -(-instance.block_high // self.unit)
        self.live = self._live()

    def lower(
        self, sections: int, given: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        """Try mosaic after mosaic; return the best placement and the work it took."""
        best, peak = start, self.peak(start)
        least = max(int(self.live.max()), enough // self.unit)
        attempt = 0
        while peak > enough and self.done < work and not report(None):
            pieces = self._mosaic(least, attempt, seed, work, report)
            if self.done >= work:
                break
            budget, incumbent = FIRST_SEARCH << (attempt + 1).bit_length() // 2, None
            if attempt % 4 == LOWERS:
                budget = max(budget, (work - self.done) // PART_FOR_LOWERING)
                incumbent = -(-peak // self.unit)
            budget = min(budget, work - self.done)
            order = self._packed(pieces, least, incumbent, seed + attempt, budget, report)
            offset = None if order is None else self._fallen(given, order)
            if offset is not None and self.peak(offset) < peak:
                best, peak = offset, self.peak(offset)
                report(best)
            attempt += 1
        return best, self.done

    def _live(self) -> Ints:
        """The sum of live heights in each section."""
        steps = np.zeros(self.instance.sections + 1, dtype=np.int64)
        np.add.at(steps, self.birth, self.height)
        np.add.at(steps, self.death, -self.height)
        return np.cumsum(steps)[:-1]

    def _mosaic(self, height: int, attempt: int, seed: int, work: int, report: Report) -> list[Piece]:
        """The pieces that are left of all blocks, and of the room that stays empty below this height."""
        leaves = list(self._blocks())
        if attempt % 4 != LEAVES_EMPTY:
            leaves += [
                Piece(begin, end, free, ((number, 0),))
                for number, (begin, end, free) in enumerate(fillers(height - self.live), len(leaves))
            ]
        pieces = leaves
        for pieces in joined(leaves, _allows(LEFT_OUT[attempt % len(LEFT_OUT)], mix(seed + attempt))):
            self.done += LOOK * len(pieces)
            if self.done >= work or report(None):
                break
        return [piece for piece in pieces if any(self._is_block(member) for member, _ in piece.members)]

    def _blocks(self) -> Iterator[Piece]:
        rows = zip(self.birth.tolist(), self.death.tolist(), self.height.tolist(), strict=True)
        for block, (begin, end, height) in enumerate(rows):
            yield Piece(begin, end, height, ((block, 0),))

    def _is_block(self, member: int) -> bool:
        return member < len(self.height)

    def _packed(
        self, pieces: list[Piece], height: int, incumbent: int | None, seed: int, work: int, report: Report
    ) -> Ints | None:
        """All blocks from the lowest to the highest: of a placement of this height, or with an incumbent of any lower one. None if none was found."""
        try:
            _, base, _, _, spent = self.kernels.search(
                sections=max(piece.end for piece in pieces),
                columns=_columns(pieces, height if incumbent is None else incumbent),
                bound=height,
                incumbent=incumbent,
                fit=incumbent is None,
                seed=seed % (1 << 64),
                threads=1,
                work=work,
                max_pairs=self.most_pairs,
                report=lambda _offset, _bound: report(None),
            )
        except TooLarge:
            return None
        self.done += spent
        if base is None:
            return None
        offset = np.zeros(len(self.height), dtype=np.int64)
        for piece, low in zip(pieces, base.tolist(), strict=True):
            for member, distance in piece.members:
                if self._is_block(member):
                    offset[member] = low + distance
        return np.argsort(offset, kind="stable")

    def _fallen(self, given: Columns, order: Ints) -> Ints | None:
        """Each block in this order as low as it fits and its alignment allows."""
        self.done += len(order)
        return self.kernels.greedy_place(self.instance.sections, given, order, "lowest")


def _allows(one_of: int, seed: int) -> Allows:
    """Leaves out one of so many joints, none for 0."""
    return lambda first, second: one_of == 0 or mix(seed + (first << 32) + second) % one_of != 0


def _columns(pieces: list[Piece], height: int) -> Columns:
    """The pieces below this height as blocks."""
    high = np.array([piece.height for piece in pieces], dtype=np.int64)
    rank = np.arange(len(pieces), dtype=np.int64)
    zero, none = np.zeros(len(pieces), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return Columns(
        part_block=rank,
        part_low=zero,
        part_high=high,
        rect_part=rank,
        rect_start=np.array([piece.begin for piece in pieces], dtype=np.int64),
        rect_end=np.array([piece.end for piece in pieces], dtype=np.int64),
        modulus=zero + 1,
        residue=zero,
        lowest=zero,
        highest=height - high,
        reserved=none,
        conflicts=none,
        exclusions=none,
    )
