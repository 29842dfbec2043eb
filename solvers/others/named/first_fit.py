"""Placing hulls one after the other, each in the first pool that has room: the common step of planners that fill gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ...fitting.gaps import Span
from ...fitting.neighbours import neighbours
from ...fitting.orders import Fit
from ...fitting.pool_choice import PoolChoice
from ...model.instance import Placement
from .heuristic import NothingFits, Run
from .rigid import Rigid

SpanOf = Callable[[int, int], Span]
"""The bases that a block may have in a pool."""


def place_in_order(blocks: Rigid, order: Iterable[int], fit: Fit, run: Run, span_of: SpanOf | None = None) -> Placement:
    """Raises NothingFits for the first block that fits into none of its pools."""
    near = neighbours(blocks.instance)
    choice = PoolChoice(blocks.instance)
    span_of = span_of or blocks.span
    pool_of, offset = np.zeros(len(blocks), dtype=np.int64), np.zeros(len(blocks), dtype=np.int64)
    for block in order:
        run.spend(near.work // max(len(blocks), 1) + 1)
        for pool in choice.open(block):
            base = near.open_base(block, pool, span_of(block, pool), blocks.reserved(block, pool), fit)
            if base is not None:
                break
        else:
            raise NothingFits(block)
        near.place(block, pool, base)
        choice.put(block, pool)
        pool_of[block], offset[block] = pool, base
    return Placement(pool_of, offset)
