"""Packs one pool anew with the greedy kernels, as if it were unlimited: what then ends too high has to go elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...fitting.measures import measure
from ...fitting.orders import Fit, ordered
from ...geometry.presolve import restrict
from ...kernels import active_for
from ...kernels.columns import columns
from ...model.instance import Instance, Ints

ORDERS_TO_TRY = ("size", "area", "total_size", "width_area_total", "total_area_width", "birth")
"""Of all orders, those that pay where a pool is packed often."""


def packed(
    instance: Instance,
    pool: int,
    blocks: Ints,
    order: str | Ints,
    fit: Fit,
    hurries: Callable[[], bool] | None = None,
) -> tuple[Ints, Ints] | None:
    """Bases for the blocks in this pool, and by how much each ends too high; None if even an unlimited pool is too small.

    Once `hurries` is true, the remaining blocks are stacked on top.
    """
    piece = restrict(instance, blocks, [pool]).instance
    endless = _without_end(piece)
    sequence = ordered(order, measure(endless)) if isinstance(order, str) else order
    fixed = (piece.lowest == piece.highest)[:, 0]
    sequence = sequence[np.argsort(~fixed[sequence], kind="stable")]
    kernels = active_for(endless).kernels
    bases = kernels.greedy_place(endless.sections, columns(endless), np.ascontiguousarray(sequence), fit, hurries)
    return None if bases is None else (bases, np.maximum(bases - piece.highest[:, 0], 0))


def _without_end(piece: Instance) -> Instance:
    """The piece with room above for every block that is not fixed."""
    walls = [end for _, end in piece.pools[0].reserved]
    top = int(max([0, *walls, int(piece.lowest.max(initial=0))]))
    top += int(piece.block_high.sum()) + int(piece.modulus.sum())
    free = piece.lowest != piece.highest
    steps = np.maximum(top - piece.highest, 0) // piece.modulus
    return replace(piece, highest=np.where(free, piece.highest + steps * piece.modulus, piece.highest))
