"""Packs one pool anew with the greedy kernels: as if it were unlimited, so that what ends too high has to go elsewhere, or with what fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...fitting.measures import measure
from ...fitting.orders import Fit, ordered
from ...geometry.presolve import restrict
from ...kernels import active_for
from ...kernels.columns import columns
from ...model.instance import ADDRESS_LIMIT, Bools, Instance, Ints
from ...model.interruption import check_interrupted

ORDERS_TO_TRY = ("size", "area", "total_size", "width_area_total", "total_area_width", "birth")
"""Of all orders, those that pay where a pool is packed often."""


def packed(instance: Instance, pool: int, blocks: Ints, order: str | Ints, fit: Fit) -> tuple[Ints, Ints] | None:
    """Bases for the blocks in this pool, and by how much each ends too high; None if even an unlimited pool is too small."""
    check_interrupted()
    piece = restrict(instance, blocks, [pool]).instance
    held = (piece.lowest == piece.highest)[:, 0] & (instance.allowed[blocks].sum(axis=1) == 1)
    endless = _without_end(piece, held)
    sequence = ordered(order, measure(endless)) if isinstance(order, str) else order
    kernels = active_for(endless).kernels
    check_interrupted()
    sequence = np.ascontiguousarray(sequence[np.argsort(~held[sequence], kind="stable")])
    bases = kernels.greedy_place(endless.sections, columns(endless), sequence, fit)
    return None if bases is None else (bases, np.maximum(bases - piece.highest[:, 0], 0))


def filled(
    instance: Instance, pool: int, blocks: Ints, order: Ints, hurries: Callable[[], bool] | None = None
) -> tuple[Ints, Ints]:
    """Bases for the blocks in this pool, each in turn as low as there is room, and those left out since there is none, by their numbers in `blocks`.

    Once `hurries` is true, what cannot be stacked on top is left out.
    """
    piece = restrict(instance, blocks, [pool]).instance
    kernels = active_for(piece).kernels
    return kernels.greedy_fill(piece.sections, columns(piece), np.ascontiguousarray(order), Fit.LOWEST, hurries)


class Fillable:
    """A pool that is filled again and again, each time with some of its blocks."""

    def __init__(self, instance: Instance, pool: int) -> None:
        self._blocks = np.flatnonzero(instance.allowed[:, pool])
        piece = restrict(instance, self._blocks, [pool]).instance
        self._sections, self._columns, self._kernels = piece.sections, columns(piece), active_for(piece).kernels
        self._number = np.full(instance.blocks, -1, dtype=np.int64)
        self._number[self._blocks] = np.arange(len(self._blocks))

    def filled(self, order: Ints, highest: Ints) -> tuple[Ints, Ints]:
        """Bases for these blocks, each in turn as low as there is room, and those left out; `highest` says of each block of the instance where it may begin."""
        given = self._columns._replace(highest=np.ascontiguousarray(highest[self._blocks]))
        numbers = self._number[order]
        bases, out = self._kernels.greedy_fill(self._sections, given, numbers, Fit.LOWEST)
        return bases[numbers], self._blocks[out]


def _without_end(piece: Instance, held: Bools) -> Instance:
    """The piece with room above for every block that is not held at its only place."""
    walls = [end for _, end in piece.pools[0].reserved]
    top = int(max([0, *walls, int(piece.lowest.max(initial=0))]))
    top += int(piece.block_high.sum()) + int(piece.modulus.sum())
    room = np.minimum(min(top, ADDRESS_LIMIT), ADDRESS_LIMIT - piece.block_high)
    steps = np.maximum(room[:, None] - piece.highest, 0) // piece.modulus
    return replace(piece, highest=np.where(held[:, None], piece.highest, piece.highest + steps * piece.modulus))
