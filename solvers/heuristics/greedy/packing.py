"""One pool packed anew by the greedy kernels, as if it had no end: what then ends too high has to go elsewhere."""

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

ORDERS = ("size", "area", "total_size", "width_area_total", "total_area_width", "birth")
"""Those that are tried in turn."""


def packed(
    instance: Instance,
    pool: int,
    blocks: Ints,
    order: str | Ints,
    fit: Fit,
    hurries: Callable[[], bool] | None = None,
) -> tuple[Ints, Ints] | None:
    """Bases for the blocks in this pool, and how far each one ends above what it may; None where even an endless pool is too small.

    From when `hurries` is true on, the others are stacked on top.
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
    """The same with room above for everything that is not fixed."""
    walls = [end for _, end in piece.pools[0].reserved]
    top = int(max([0, *walls, int(piece.lowest.max(initial=0))]))
    top += int(piece.block_high.sum()) + int(piece.modulus.sum())
    free = piece.lowest != piece.highest
    steps = np.maximum(top - piece.highest, 0) // piece.modulus
    return replace(piece, highest=np.where(free, piece.highest + steps * piece.modulus, piece.highest))
